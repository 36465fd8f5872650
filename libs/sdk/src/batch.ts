import { errorOf } from "./error-of.ts";
import type { MissingInput } from "./inputs.ts";
import type { ObserverLog } from "./observer-context.ts";
import { SdkError } from "./sdk-error.ts";

/**
 * A task of a batch.
 *
 * @typeParam P the params after parsing
 * @typeParam N the inputs
 */
export type BatchedTask<P = unknown, N = Readonly<Record<string, unknown>>> = {
  /** As the type's schema gave them back (defaults filled in). */
  readonly params: P;
  /** Of a task of a flow: the results of those that it comes directly after, by their refs. */
  readonly inputs: N;
  /** Those of them that have none, and how they ended. */
  readonly missing: Readonly<Record<string, MissingInput>>;
  /** 1 the first time; counts failures, not interruptions. */
  readonly attempt: number;
  /** UUID; the same in every attempt. */
  readonly taskId: string;
  /** Aborts when this one is cancelled, and with that of the whole batch. */
  readonly signal: AbortSignal;
};

/** What the handler of a batch gets beside its tasks. */
export type BatchContext = {
  /**
   * Aborts when the call has to end: its time is up, all of its tasks are cancelled, its service is going down or may have lost them to
   * another; `signal.reason` is an `ObserverStopped` that says which, as for a single task.
   */
  readonly signal: AbortSignal;
  /** The log of the call, for all of its tasks: name the one that a line is about. */
  readonly log: ObserverLog;
};

/** What became of a task of a batch: its result, or the error with which its attempt has failed. */
export type BatchResult<R = unknown> =
  | { readonly taskId: string; readonly output: R; readonly error?: undefined }
  | { readonly taskId: string; readonly error: unknown };

/** One of a batch, as its handler left it. */
export type BatchOutcome = { readonly output: unknown } | { readonly error: Error };

/**
 * What a handler of batches returned, by task: one that it left out has failed, and so have all if it is no list of results (throws
 * `invalid-output`). Of two results of one task the first counts.
 * @param strange told of each result that belongs to no task of the batch
 */
export function batchOutcomes(
  tasks: readonly Pick<BatchedTask, "taskId">[],
  returned: unknown,
  strange: (taskId: string) => void,
): Map<string, BatchOutcome> {
  if (!Array.isArray(returned))
    throw new SdkError(
      "invalid-output",
      "runBatch takes care of many, and returns a list: { taskId, output } or { taskId, error } of each",
    );
  const outcomes = new Map<string, BatchOutcome | undefined>(tasks.map(({ taskId }) => [taskId, undefined]));
  for (const result of returned as readonly unknown[]) {
    const left = (result ?? {}) as { taskId?: unknown; output?: unknown; error?: unknown };
    const { taskId } = left;
    if (typeof taskId !== "string" || !outcomes.has(taskId)) strange(String(taskId));
    else if (outcomes.get(taskId) === undefined)
      outcomes.set(taskId, hasFailed(left) ? { error: asError(left.error) } : { output: left.output });
  }
  // An error is made where it is needed alone: its stack takes 4 µs.
  return new Map(Array.from(outcomes, ([taskId, outcome]) => [taskId, outcome ?? { error: leftOut() }]));
}

/** Beside an output, an error that is nothing is none; alone it is what was thrown: `throw undefined`, a promise that rejects with nothing. */
const hasFailed = (left: { output?: unknown; error?: unknown }): boolean =>
  (left.error !== undefined && left.error !== null) || ("error" in left && !("output" in left));

const leftOut = () => new SdkError("no-result", "runBatch returned no result for this task");

/** Whatever it is, also what has no JSON: it is of this task alone. */
const asError = (error: unknown): Error => (typeof error === "string" ? new Error(error) : errorOf(error));
