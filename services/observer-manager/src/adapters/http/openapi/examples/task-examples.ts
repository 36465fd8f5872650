import type {
  CreatedTask,
  CreateTask,
  CreateTasks,
  TaskBatchResults,
  TaskPage,
  TaskReceipts,
  TaskView,
} from "@unacked/contracts";
import type { z } from "zod";
import { SERVICE_ID } from "./observer-examples.ts";
import { problemExample } from "./problem-examples.ts";

export const TASK_ID = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41";

export const NEW_TASK = {
  type: "resize",
  params: { url: "https://shop.example/logo.png", width: 320 },
} satisfies z.input<typeof CreateTask>;

/** The task that becomes of it. */
export const READY = {
  id: TASK_ID,
  ...NEW_TASK,
  pool: "default",
  key: null,
  priority: 0,
  status: "Ready",
  waitsFor: "turn",
  cancelling: false,
  cancelled: null,
  runsAgain: false,
  dueAt: "2026-11-20T09:00:00.000Z",
  maxAttempts: null,
  failures: 0,
  interruptions: 0,
  sends: 0,
  postpones: 0,
  postponedFor: null,
  service: null,
  taken: null,
  startedAt: null,
  endedAt: null,
  output: null,
  completedBy: null,
  lastError: null,
  flow: null,
  parentId: null,
  createdAt: "2026-11-20T09:00:00.000Z",
} satisfies TaskView;

export const COMPLETED = {
  ...READY,
  status: "Completed",
  waitsFor: null,
  sends: 1,
  service: { id: SERVICE_ID, name: "observer-service-1" },
  startedAt: "2026-11-20T09:00:00.012Z",
  endedAt: "2026-11-20T09:00:00.431Z",
  output: { bytes: 10_240 },
  completedBy: "handler",
} satisfies TaskView;

export const CREATED = { ...READY, outcome: "created" } satisfies CreatedTask;
export const EXISTED = { ...COMPLETED, outcome: "exists" } satisfies CreatedTask;

export const TASK_RUNNING = {
  ...COMPLETED,
  status: "Running",
  endedAt: null,
  output: null,
  completedBy: null,
} satisfies TaskView;

export const QUEUED = { ...TASK_RUNNING, key: "logo", runsAgain: true, outcome: "queued" } satisfies CreatedTask;

export const TASK_TO_RETRY = {
  ...READY,
  status: "Scheduled",
  waitsFor: "due-time",
  failures: 1,
  sends: 1,
  dueAt: "2026-11-20T09:00:01.500Z",
  lastError: { name: "TypeError", message: "fetch failed" },
} satisfies TaskView;

export const TASK_POSTPONED = {
  ...READY,
  status: "Scheduled",
  waitsFor: "postponed",
  sends: 1,
  postpones: 1,
  postponedFor: "the shop is closed",
  dueAt: "2026-11-21T08:00:00.000Z",
} satisfies TaskView;

export const TASK_COMPLETED_IN_EMERGENCY = {
  ...COMPLETED,
  failures: 3,
  sends: 4,
  completedBy: "emergency",
  lastError: { name: "TypeError", message: "fetch failed" },
} satisfies TaskView;

export const TASK_INTERRUPTED = {
  ...TASK_RUNNING,
  interruptions: 2,
  service: { id: SERVICE_ID, name: "observer-service-1" },
  interrupted: [
    {
      at: "2026-11-20T09:00:00.004Z",
      reason: "service-gone",
      service: { id: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f44", name: "observer-service-2" },
      takenBy: null,
      detail: null,
    },
    {
      at: "2026-11-20T09:00:00.012Z",
      reason: "restarted",
      service: { id: SERVICE_ID, name: "observer-service-1" },
      takenBy: null,
      detail: "its slot ended (SIGKILL): an unknown run, or something outside, ended it",
    },
  ],
} satisfies TaskView;

export const TASK_WITH_CHILDREN = {
  ...COMPLETED,
  created: [{ id: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f42", type: "resize", outcome: "created" }],
  refused: [
    {
      id: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f43",
      type: "resise",
      code: "unknown-type",
      detail: 'No living service of the pool "default" knows the task type "resise"',
    },
  ],
} satisfies TaskView;

export const TASK_FAILED = {
  ...COMPLETED,
  status: "Failed",
  failures: 10,
  sends: 10,
  output: null,
  completedBy: null,
  lastError: { name: "TypeError", message: "fetch failed" },
} satisfies TaskView;

export const TASK_CANCELLED = {
  ...READY,
  status: "Cancelled",
  waitsFor: null,
  endedAt: "2026-11-20T09:00:07.000Z",
} satisfies TaskView;
export const TASK_CANCELLING = {
  ...TASK_RUNNING,
  ...{ cancelling: true, cancelled: { by: "anna", requestId: "5f0c8f5e-9d0b-4a3e-8a57-3c1c7b1f2d90" } },
} satisfies TaskView;

export const TASK_PAGE = {
  items: [COMPLETED],
  total: 10_000,
  isTotalExact: false,
  nextCursor: "ay4xNzk1MTY2NDAwMDAwMDAwLjAxOTM2ZjYwLTBiMWMtN2U1ZC05ZjNhLTRiNmM4ZDBlMmY0MQ",
} satisfies TaskPage;

export const TASK_BATCH = { tasks: [NEW_TASK, { ...NEW_TASK, type: "resise" }] } satisfies z.input<typeof CreateTasks>;

export const TASK_BATCH_RESULTS = {
  results: [
    { status: 201, task: CREATED },
    { status: 422, problem: problemExample("unknown-type") },
  ],
} satisfies TaskBatchResults;

export const TASK_RECEIPTS = {
  results: [
    { status: 201, task: { id: TASK_ID, outcome: CREATED.outcome } },
    { status: 422, problem: problemExample("unknown-type") },
  ],
} satisfies TaskReceipts;
