import { backoffMs, type CreatedTask, isTaskOver, type TaskView } from "@unacked/contracts";
import { CallError } from "../call-error.ts";
import { pause } from "../event-stream.ts";
import { type Calls, longestWaitMs } from "./calls.ts";
import { TaskCancelled, TaskFailed, TaskNotOver } from "./task-errors.ts";

export interface WaitOptions {
  signal?: AbortSignal | undefined;
  /** Default: as long as it takes. */
  timeoutMs?: number | undefined;
}

const DELAYS = { firstMs: 250, maxMs: 5_000 };
const MAX_WAIT_S = 60;
/** A manager that has too many who wait answers at once; it is not asked more often than that. */
const LEAST_ROUND_MS = 1_000;
const LONGEST_TIMER_MS = 2_147_483_647;

/** One task, wherever it runs. */
export class TaskHandle<Output = unknown> {
  readonly id: string;
  /** What became of the create: a new one, or the one that had its id or key. Undefined: nothing was created here. */
  readonly outcome: CreatedTask["outcome"] | undefined;
  readonly #calls: Calls;

  constructor(calls: Calls, id: string, outcome?: CreatedTask["outcome"]) {
    this.#calls = calls;
    this.id = id;
    this.outcome = outcome;
  }

  get(signal?: AbortSignal): Promise<TaskView> {
    return this.#calls.call("getTask", { path: { taskId: this.id } }, signal);
  }

  /** What does not run is Cancelled at once, what runs is told to end. Refused (`task-over`) when it is over. */
  cancel(signal?: AbortSignal): Promise<TaskView> {
    return this.#calls.call("cancelTask", { path: { taskId: this.id } }, signal);
  }

  /**
   * Waits for its end, also over a manager's restart, and gives what its handler returned. Rejects with {@link TaskFailed} or
   * {@link TaskCancelled}, with {@link TaskNotOver} after `timeoutMs`, with the reason of `signal`, and with a {@link CallError} where
   * waiting is no use: who asks may not, or the task is not known (any more).
   */
  async result(options: WaitOptions = {}): Promise<Output> {
    const task = await this.#untilOver(options);
    if (task.status === "Failed") throw new TaskFailed(task);
    if (task.status === "Cancelled") throw new TaskCancelled(task);
    return task.output as Output;
  }

  async #untilOver({ signal, timeoutMs = Number.POSITIVE_INFINITY }: WaitOptions): Promise<TaskView> {
    const endMs = performance.now() + timeoutMs;
    let seen: TaskView | undefined;
    let failure: unknown;
    for (let failures = 0; ; ) {
      signal?.throwIfAborted();
      const beganMs = performance.now();
      const leftMs = Math.floor(endMs - beganMs);
      if (leftMs < 1) throw new TaskNotOver(this.id, seen, timeoutMs, failure);
      const inTime = Number.isFinite(leftMs) ? AbortSignal.timeout(Math.min(leftMs, LONGEST_TIMER_MS)) : undefined;
      try {
        seen = await this.#look(leftMs, [signal, inTime]);
        if (isTaskOver(seen.status)) return seen;
        failure = undefined;
        failures = 0;
        await this.#pause(beganMs + LEAST_ROUND_MS, endMs, signal);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (inTime?.aborted) continue;
        if (!passes(error)) throw error;
        failure = error;
        await this.#pause(performance.now() + backoffMs(DELAYS, failures), endMs, signal);
        failures += 1;
      }
    }
  }

  /** A timer may be early by a part of a millisecond. */
  #pause(untilMs: number, endMs: number, signal: AbortSignal | undefined): Promise<void> {
    return pause(Math.ceil(Math.min(untilMs, endMs) - performance.now()), signal);
  }

  #look(leftMs: number, signals: readonly (AbortSignal | undefined)[]): Promise<TaskView> {
    const waitS = Math.min(MAX_WAIT_S, Math.max(1, Math.floor(Math.min(leftMs, longestWaitMs(this.#calls)) / 1_000)));
    const any = AbortSignal.any(signals.filter((signal) => signal !== undefined));
    return this.#calls.call("getTask", { path: { taskId: this.id }, query: { wait: `${waitS}s` } }, any);
  }
}

/** A manager that restarts, or whoever stands before it meanwhile, answers later. */
function passes(error: unknown): boolean {
  if (!(error instanceof CallError)) return false;
  const isLater = error.status === 429 || error.status === 502 || error.status === 503 || error.status === 504;
  return isLater || error.kind === "unreachable" || error.kind === "timed-out";
}
