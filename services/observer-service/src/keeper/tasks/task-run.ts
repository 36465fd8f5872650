import { newRunId, type ObserverId, type RunId, type StartTask, type TaskId } from "@unacked/contracts";
import type { Log } from "../../log.ts";
import type { Attempt } from "../../wire/attempt.ts";
import type { StopCause } from "../../wire/stop-cause.ts";
import type { HandledRun } from "../runs/handlers.ts";
import type { TaskMessage } from "./task-message.ts";

const NO_LABELS = Object.freeze({});
/** How long a task that has ended a slot is to be well before its slot is shared; most are over by then. */
const RETRY = Object.freeze({ resetAfterMs: 600_000 });

/** One attempt of a task, with its message. Slots treat it like a run of an observer. */
export class TaskRun implements HandledRun {
  readonly task: StartTask;
  readonly message: TaskMessage;
  readonly runId: RunId = newRunId();
  readonly start: HandledRun["start"];
  readonly taskAttempt: number;
  readonly inputs: StartTask["inputs"];
  startedAt = Date.now();
  /** The same time, in ms of `performance.now()`. */
  beganMs = 0;
  /** Whether its handler runs, or may run. */
  isRunning = false;
  /** The cause for which it was told to end. */
  cause: StopCause | undefined;
  attempt: Attempt | undefined;
  /** What ended the run that it follows here. */
  interruption: string | undefined;
  /** Whether it has waited for a slot for too long, and has not begun. */
  hasNoSlot = false;
  /** The timer of its timeout, or before that of its wait for a slot. */
  timer: NodeJS.Timeout | undefined;
  readonly #parentLog: Log;
  #log: Log | undefined;

  constructor(task: StartTask, message: TaskMessage, log: Log) {
    this.task = task;
    this.message = message;
    this.#parentLog = log;
    this.taskAttempt = task.failures + 1;
    this.inputs = task.inputs;
    const { taskId, type, params } = task;
    this.start = {
      observerId: taskId as string as ObserverId,
      name: `task ${type} ${taskId}`,
      type,
      labels: NO_LABELS,
      params,
      retry: RETRY,
    };
  }

  get toldAs(): { id: TaskId; type: string } {
    return { id: this.task.taskId, type: this.task.type };
  }

  /**
   * Its handler runs from now on. @returns whether that was noted before: it was recalled in that very moment, and begins once more
   */
  begins(): boolean {
    const wasSaid = this.beganMs > 0;
    this.startedAt = Date.now();
    this.beganMs = performance.now();
    this.isRunning = true;
    return wasSaid;
  }

  /** Created when it is first written to, as most tasks log nothing. */
  get log(): Log {
    const { taskId, type } = this.task;
    this.#log ??= this.#parentLog.child({ task: taskId, type, runId: this.runId });
    return this.#log;
  }

  /**
   * The next attempt of the same message, with the same number. @param why this one has ended; of one that had not begun nobody has heard,
   * so what ended the one before it counts
   */
  successor(why?: string): TaskRun {
    const next = new TaskRun(this.task, this.message, this.#parentLog);
    next.interruption = this.beganMs === 0 ? (this.interruption ?? why) : why;
    return next;
  }
}
