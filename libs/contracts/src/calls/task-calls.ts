import { z } from "zod";
import { timestamp } from "../bounds.ts";
import { PoolName, ServiceName, TypeName } from "../ids.ts";
import { MAX_BATCH_BODY_BYTES, MAX_REFS_BODY_BYTES } from "../rest/bulk.ts";
import { CancelTasksRequest, RetryTasksRequest, TaskBulkCount } from "../rest/task-bulk.ts";
import { RetryFailures, RetryTaskWith, TaskFailureGroups } from "../rest/task-failures.ts";
import { FIGURE_SPANS, MAX_FIGURES, TaskFigures, TaskFiguresNow } from "../rest/task-figures.ts";
import { CompleteTask, ExtendTask, FailTask, ReleaseTask, TakenTasks, TakeTasks, TaskLease } from "../rest/task-takes.ts";
import { ChangeTaskType, TaskTypeList, TaskTypeView } from "../rest/task-types.ts";
import {
  ChangeTask,
  CreatedTask,
  CreateTask,
  CreateTasks,
  TaskBatchResults,
  TaskPage,
  TaskReceipts,
  TaskView,
} from "../rest/tasks.ts";
import { TaskStatusName } from "../states/task-states.ts";
import { BODY_PROBLEMS, type Call } from "./call.ts";
import { prefer } from "./prefer.ts";
import { listOf, pageCursor, pageLimit, waitSeconds } from "./query-fields.ts";

const figureSpan = z
  .enum(FIGURE_SPANS)
  .default("minute")
  .describe("minutes are kept for two days, hours for thirty; both begin at those of UTC");

/** Calls about tasks: jobs that end. */
export const TASK_CALLS = {
  createTask: {
    access: "operator",
    body: CreateTask,
    answers: { 200: CreatedTask, 201: CreatedTask },
    problems: [...BODY_PROBLEMS, "id-taken", "key-taken", "unknown-type", "cross-origin"],
  },
  createTasks: {
    access: "operator",
    body: CreateTasks,
    bodyLimitBytes: MAX_BATCH_BODY_BYTES,
    headers: prefer,
    answers: { 200: TaskBatchResults },
    minimal: { 200: TaskReceipts },
    problems: [...BODY_PROBLEMS, "cross-origin"],
    itemProblems: ["invalid-body", "body-too-large", "id-taken", "key-taken", "unknown-type"],
  },
  listTasks: {
    access: "viewer",
    query: z.strictObject({
      status: listOf(TaskStatusName).optional().describe("repeat it, or separate by commas"),
      type: TypeName.optional().describe("the name of a task type"),
      service: ServiceName.optional().describe(
        "name or id of the service it runs on now, so of tasks that run alone: what waits or was sent is on no service yet; beside it a `status` of tasks that are over is refused",
      ),
      pool: PoolName.optional().describe("the pool of services it belongs to"),
      q: z
        .string()
        .regex(/^[0-9a-fA-F][0-9a-fA-F-]{3,35}$/, "must be 4 to 36 of 0-9 a-f and -")
        .refine((text) => text.replaceAll("-", "").length <= 32, "is longer than an id")
        .optional()
        .describe("how the id begins, at least 4 characters of it"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: TaskPage },
    problems: [],
  },
  getTask: {
    access: "viewer",
    query: z.strictObject({ wait: waitSeconds("task") }),
    answers: { 200: TaskView },
    problems: ["task-not-found"],
  },
  cancelTask: {
    access: "operator",
    answers: { 202: TaskView },
    problems: ["task-not-found", "task-over", "cross-origin"],
  },
  changeTask: {
    access: "operator",
    body: ChangeTask,
    answers: { 200: TaskView },
    problems: [...BODY_PROBLEMS, "task-not-found", "task-over", "cross-origin"],
  },
  retryTask: {
    access: "operator",
    answers: { 202: TaskView },
    problems: ["task-not-found", "task-not-retryable", "key-taken", "cross-origin"],
  },
  retryTaskWith: {
    access: "operator",
    body: RetryTaskWith,
    answers: { 202: TaskView },
    problems: [...BODY_PROBLEMS, "task-not-found", "task-not-retryable", "key-taken", "unknown-type", "cross-origin"],
  },
  groupTaskFailures: {
    access: "viewer",
    query: z.strictObject({
      type: TypeName.optional().describe("the name of a task type"),
      pool: PoolName.optional().describe("the pool of services it belongs to"),
    }),
    answers: { 200: TaskFailureGroups },
    problems: [],
  },
  retryTaskFailures: {
    access: "operator",
    body: RetryFailures,
    answers: { 200: TaskBulkCount },
    problems: [...BODY_PROBLEMS, "cross-origin"],
  },
  cancelTasks: {
    access: "operator",
    body: CancelTasksRequest,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    answers: { 200: TaskBulkCount },
    problems: [...BODY_PROBLEMS, "cross-origin"],
  },
  retryTasks: {
    access: "operator",
    body: RetryTasksRequest,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    answers: { 200: TaskBulkCount },
    problems: [...BODY_PROBLEMS, "cross-origin"],
  },
  takeTasks: {
    access: "taker",
    body: TakeTasks,
    answers: { 200: TakenTasks },
    problems: [...BODY_PROBLEMS, "cross-origin"],
  },
  completeTask: {
    access: "taker",
    body: CompleteTask,
    answers: { 200: TaskView },
    problems: [...BODY_PROBLEMS, "task-not-found", "task-not-held", "cross-origin"],
  },
  failTask: {
    access: "taker",
    body: FailTask,
    answers: { 200: TaskView },
    problems: [...BODY_PROBLEMS, "task-not-found", "task-not-held", "cross-origin"],
  },
  extendTask: {
    access: "taker",
    body: ExtendTask,
    answers: { 200: TaskLease },
    problems: [...BODY_PROBLEMS, "task-not-found", "task-not-held", "task-cancelling", "cross-origin"],
  },
  releaseTask: {
    access: "taker",
    body: ReleaseTask,
    answers: { 200: TaskView },
    problems: [...BODY_PROBLEMS, "task-not-found", "task-not-held", "cross-origin"],
  },
  takeBackTask: {
    access: "operator",
    answers: { 200: TaskView },
    problems: ["task-not-found", "task-not-taken", "cross-origin"],
  },
  listTaskTypes: {
    access: "viewer",
    answers: { 200: TaskTypeList },
    problems: [],
  },
  changeTaskType: {
    access: "admin",
    body: ChangeTaskType,
    answers: { 200: TaskTypeView },
    problems: [...BODY_PROBLEMS, "task-type-not-found", "cross-origin"],
  },
  listTaskFigures: {
    access: "viewer",
    query: z.strictObject({ by: figureSpan }),
    answers: { 200: TaskFiguresNow },
    problems: [],
  },
  getTaskFigures: {
    access: "viewer",
    query: z.strictObject({
      by: figureSpan,
      since: timestamp
        .optional()
        .describe(
          `left out: an hour ago, or two days ago by the hour; at most ${MAX_FIGURES.minute} minutes or ${MAX_FIGURES.hour} hours`,
        ),
      pool: PoolName.optional().describe("of tasks of this pool alone"),
    }),
    answers: { 200: TaskFigures },
    problems: ["task-type-not-found"],
  },
} as const satisfies Record<string, Call>;
