import type { TaskFailureGroups, TaskView } from "@unacked/contracts";
import { READY, TASK_ID } from "./task-examples.ts";

export const TASK_FAILURES = {
  items: [
    {
      type: "resize",
      group: "TypeError: fetch failed",
      count: 310,
      firstEndedAt: "2026-11-20T08:00:00.000Z",
      lastEndedAt: "2026-11-20T09:00:07.000Z",
      example: { id: TASK_ID, lastError: { name: "TypeError", message: "fetch failed" } },
    },
  ],
  total: 1,
  isComplete: true,
} satisfies TaskFailureGroups;

export const TASK_EDITED = {
  ...READY,
  params: { width: 320 },
  edits: [{ at: "2026-11-20T09:05:00.000Z", by: "anna", before: { width: 32_000 } }],
} satisfies TaskView;
