import type {
  CancelTasksRequest,
  ChangeTask,
  ChangeTaskType,
  CompleteTask,
  CreateTask,
  ExtendTask,
  FailTask,
  ReleaseTask,
  RetryFailures,
  RetryTasksRequest,
  TakenTasks,
  TakeTasks,
  TaskBulkCount,
  TaskFailureGroups,
  TaskFigures,
  TaskFiguresNow,
  TaskId,
  TaskPage,
  TaskTypeList,
  TaskTypeView,
  TaskView,
} from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { FigureSpan } from "../../domain/tasks/figure-bars.ts";
import type { Refusal } from "../refusal.ts";
import type { Accepted } from "./creations/insert-outcome.ts";
import type { TaskQuery } from "./desk/task-store.ts";

export type TaskOutcome = { kind: "accepted" | "over"; task: TaskView } | Refusal;
export type TaskCreateOutcome = Accepted<"created" | "exists" | "returned" | "replaced" | "queued"> | Refusal;

/** What REST asks of tasks. Each answer is given after the commit, and who did it stands in the audit trail by the same transaction. */
export interface TaskTools {
  /** In the order given. Problems: id-taken, key-taken (+ taskId), unknown-type (+ knownTypes), invalid-body (+ errors). */
  createTasks(
    requests: (CreateTask | Refusal)[],
    by: Actor,
    /** `areShown`: somebody looks at what they are like (default); without, nobody asks the database why they wait. */
    how?: { areShown?: boolean },
  ): Promise<TaskCreateOutcome[]>;
  /** @param waitMs answers when it is over, or then at the latest; @param gone nobody is there any more to be answered */
  findTask(id: TaskId, waitMs: number, gone: AbortSignal): Promise<TaskView | undefined>;
  listTasks(query: TaskQuery): Promise<TaskPage>;
  /** Changes many, each for itself; what was accepted stays so. */
  changeTasks(change: TaskBulkChange, by: Actor): Promise<TaskBulkCount>;
  /** Problems: task-not-found, task-over. */
  cancelTask(id: TaskId, by: Actor): Promise<TaskOutcome>;
  /** Problems: task-not-found, task-over. */
  changeTask(id: TaskId, change: ChangeTask, by: Actor): Promise<TaskOutcome>;
  /** Problems: task-not-found, task-not-retryable, key-taken (+ taskId). */
  retryTask(id: TaskId, by: Actor): Promise<TaskOutcome>;
}

/** What is asked of many tasks: of some by their ids, or of all that match. */
export type TaskBulkChange = ((CancelTasksRequest & { kind: "cancel" }) | (RetryTasksRequest & { kind: "retry" })) & {
  /** What the ids were found by, for the audit trail. */
  failures?: Pick<RetryFailures, "type" | "group">;
};

/** What may be started of each type. */
export interface TaskTypeTools {
  listTaskTypes(): Promise<TaskTypeList>;
  /** Holds for all that is claimed after it has answered. Problems: task-type-not-found, invalid-body (+ errors). */
  changeTaskType(
    type: string,
    change: ChangeTaskType,
    by: Actor,
  ): Promise<{ kind: "changed"; type: TaskTypeView } | Refusal>;
}

/** What is Failed, by what went wrong, and how it is mended. */
export interface TaskFailureTools {
  /** Groups the newest of them. */
  groupTaskFailures(of: { type?: string | undefined; pool?: string | undefined }): Promise<TaskFailureGroups>;
  /** Runs those of the group again, as it is now. */
  retryTaskFailures(asked: RetryFailures, by: Actor): Promise<TaskBulkCount>;
  /** Does what retryTask does, with these params. Also: unknown-type (+ knownTypes), invalid-body (+ errors). */
  retryTaskWith(id: TaskId, params: unknown, by: Actor): Promise<TaskOutcome>;
}

/** How task types go. */
export interface TaskFigureTools {
  listTaskFigures(by: FigureSpan): Promise<TaskFiguresNow>;
  /** Problems: task-type-not-found. */
  getTaskFigures(
    type: string,
    query: { by: FigureSpan; since?: string | undefined; pool?: string | undefined },
  ): Promise<TaskFigures | Refusal>;
}

/** Who asks for tasks, and may wait for them. */
export interface Taker {
  /** Aborts when nobody is there to be told of them any more. */
  signal: AbortSignal;
  /** Whether he still may have any. */
  isStillWelcome(): Promise<boolean>;
}

/** What REST asks of tasks for workers outside. Problems, but of take: task-not-found, task-not-held. */
export interface TaskTakeTools {
  /** Problems: unauthorized, forbidden. */
  takeTasks(asked: TakeTasks, by: Actor, taker: Taker): Promise<TakenTasks | Refusal>;
  /** Also: body-too-large. */
  completeTask(id: TaskId, end: CompleteTask, by: Actor): Promise<TaskView | Refusal>;
  failTask(id: TaskId, end: FailTask, by: Actor): Promise<TaskView | Refusal>;
  /** Gives it back: neither an attempt nor an interruption. */
  releaseTask(id: TaskId, how: ReleaseTask, by: Actor): Promise<TaskView | Refusal>;
  /** Ends the lease of a worker that is gone, whoever it is. Problems: task-not-found, task-not-taken. */
  takeBackTask(id: TaskId, by: Actor): Promise<TaskView | Refusal>;
  /** Also: task-cancelling. Not in the audit trail, as it changes nothing but a time, and comes every few seconds. */
  extendTask(id: TaskId, lease: ExtendTask): Promise<{ kind: "extended"; until: Date } | Refusal>;
}
