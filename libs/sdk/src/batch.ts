import { errorOf } from "./error-of.ts";
import type { MissingInput } from "./inputs.ts";
import type { ObserverLog } from "./observer-context.ts";
import { readText } from "./read-text.ts";
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
 * `invalid-output`), as is one of promises. Of two results of one task the first counts.
 * @param strange told of each result that belongs to no task of the batch
 */
export function batchOutcomes(
  tasks: readonly Pick<BatchedTask, "taskId">[],
  returned: unknown,
  strange: (taskId: string) => void,
): Map<string, BatchOutcome> {
  if (!Array.isArray(returned))
    throw invalid("runBatch takes care of many, and returns a list: { taskId, output } or { taskId, error } of each");
  const outcomes = new Map<string, BatchOutcome | undefined>(tasks.map(({ taskId }) => [taskId, undefined]));
  for (const result of returned as readonly unknown[]) {
    if (isThenable(result)) throw invalid("runBatch returned a list of promises: await Promise.all of them");
    const taskId = idOf(result);
    if (typeof taskId !== "string" || !outcomes.has(taskId)) strange(readText(() => taskId));
    else if (outcomes.get(taskId) === undefined) outcomes.set(taskId, outcomeOf(result as Left));
  }
  // An error is made where it is needed alone: its stack takes 4 µs.
  return new Map(Array.from(outcomes, ([taskId, outcome]) => [taskId, outcome ?? { error: leftOut() }]));
}

type Left = { readonly output?: unknown; readonly error?: unknown };

/** To look at a result may run code of the author's, a getter: what that throws is of its task alone, or of none. */
function idOf(result: unknown): unknown {
  try {
    return (result as { taskId?: unknown } | null | undefined)?.taskId;
  } catch {
    return undefined;
  }
}

function outcomeOf(left: Left): BatchOutcome {
  try {
    if (hasFailed(left)) return { error: asError(left.error) };
    const { output } = left;
    // As JSON it would be {}, and what becomes of it would be nobody's.
    return isThenable(output) ? { error: invalid("the output is a promise, which nobody awaits: await it") } : { output };
  } catch (thrown) {
    return { error: errorOf(thrown) };
  }
}

function isThenable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  try {
    return typeof (value as { then?: unknown }).then === "function";
  } catch {
    return false;
  }
}

/** Beside an output, an error that is nothing is none; alone it is what was thrown: `throw undefined`, a promise that rejects with nothing. */
const hasFailed = (left: Left): boolean =>
  (left.error !== undefined && left.error !== null) || ("error" in left && !("output" in left));

const invalid = (what: string) => new SdkError("invalid-output", what);

const leftOut = () => new SdkError("no-result", "runBatch returned no result for this task");

/** Whatever it is, also what has no JSON: it is of this task alone. */
const asError = (error: unknown): Error => (typeof error === "string" ? new Error(error) : errorOf(error));
