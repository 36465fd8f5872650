import type { TakenTasks, TaskLease, TaskView } from "@unacked/contracts";
import { SendId } from "@unacked/contracts";
import { COMPLETED, NEW_TASK, READY, TASK_ID, TASK_POSTPONED, TASK_TO_RETRY } from "./task-examples.ts";

export const SEND_ID = SendId.parse("8d2f1c6e-5b0a-4c39-9f57-2e6a1d7b4c80");

const UNTIL = "2026-11-20T09:01:00.000Z";

export const TAKEN = {
  tasks: [{ id: TASK_ID, sendId: SEND_ID, ...NEW_TASK, attempt: 1, leaseUntil: UNTIL }],
} satisfies TakenTasks;

export const NONE_KNOWN = { tasks: [], unknownTypes: ["resise"] } satisfies TakenTasks;
export const ELSEWHERE = { tasks: [], otherPools: [{ type: "resize", pool: "images" }] } satisfies TakenTasks;

export const EXTENDED = { leaseUntil: UNTIL } satisfies TaskLease;

const TAKEN_BY = { service: null, taken: { by: "anna", until: null } };
export const COMPLETED_OUTSIDE = { ...COMPLETED, ...TAKEN_BY };
export const FAILED_OUTSIDE = { ...TASK_TO_RETRY, ...TAKEN_BY };
export const GIVEN_BACK = { ...READY, ...TAKEN_BY, waitsFor: "taker" as const, sends: 1 };
export const PUT_OFF = { ...TASK_POSTPONED, ...TAKEN_BY, postponedFor: "the scanner is at lunch" };
export const TAKEN_BACK = {
  ...GIVEN_BACK,
  interruptions: 1,
  interrupted: [
    { at: "2026-11-20T09:05:00.000Z", reason: "taken-back" as const, service: null, takenBy: "anna", detail: null },
  ],
} satisfies TaskView;
