import type { AnswerOf, TaskView } from "@unacked/contracts";
import type { Calls } from "./calls.ts";
import { thrownText } from "./thrown-text.ts";

type Given = AnswerOf<"takeTasks">["tasks"][number];

/**
 * A task that was taken to be worked on here. It is nobody else's until the lease ends: extend it in time. Each method is safe to
 * repeat, and is refused (`task-not-held`) when the task has gone on without this one.
 */
export class TakenTask<Params = unknown, Output = unknown> {
  readonly id: string;
  readonly type: string;
  readonly params: Params;
  /** 1 the first time; counts failures, not interruptions. */
  readonly attempt: number;
  /** For a task of a flow: the results of the tasks that it directly comes after. */
  readonly inputs: Given["inputs"];
  /** When the lease ends, by the database's clock. */
  leaseUntil: Date;
  readonly #calls: Calls;
  readonly #sendId: Given["sendId"];

  constructor(calls: Calls, { id, sendId, type, params, inputs, attempt, leaseUntil }: Given) {
    this.#calls = calls;
    this.#sendId = sendId;
    this.id = id;
    this.type = type;
    this.params = params as Params;
    this.inputs = inputs;
    this.attempt = attempt;
    this.leaseUntil = new Date(leaseUntil);
  }

  /** @param output nothing is `null` */
  complete(output: null extends Output ? Output | undefined : Output, signal?: AbortSignal): Promise<TaskView> {
    const body = { sendId: this.#sendId, output };
    return this.#calls.call("completeTask", { path: { taskId: this.id }, body }, signal);
  }

  /** @param error what the attempt threw, told with what caused it. It is tried again while attempts are left, unless `retryable` is false */
  async fail(
    error: unknown,
    { signal, ...how }: { retryable?: boolean; retryInMs?: number; signal?: AbortSignal } = {},
  ): Promise<TaskView> {
    const body = { sendId: this.#sendId, error: thrownText(error), ...how };
    return this.#calls.call("failTask", { path: { taskId: this.id }, body }, signal);
  }

  /**
   * Gives it back: another has it at once, or it waits for `inMs`; neither a failure nor an interruption. `reason` stands in the audit trail,
   * and with the task while it waits.
   */
  release({ signal, ...how }: { inMs?: number; reason?: string; signal?: AbortSignal } = {}): Promise<TaskView> {
    const body = { sendId: this.#sendId, ...how };
    return this.#calls.call("releaseTask", { path: { taskId: this.id }, body }, signal);
  }

  /**
   * Makes the lease end this many ms from now. Refused (`task-cancelling`) if somebody has cancelled the task: then end, and call
   * `fail`.
   */
  async extend(leaseMs: number, signal?: AbortSignal): Promise<Date> {
    const body = { sendId: this.#sendId, leaseMs };
    const { leaseUntil } = await this.#calls.call("extendTask", { path: { taskId: this.id }, body }, signal);
    this.leaseUntil = new Date(leaseUntil);
    return this.leaseUntil;
  }
}
