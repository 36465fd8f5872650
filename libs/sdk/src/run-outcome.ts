import { errorOf, isError } from "./error-of.ts";
import { refuseIterator } from "./iterator-returned.ts";
import type { ObserverContext } from "./observer-context.ts";
import type { ObserverDefinition } from "./observer-definition.ts";
import { isObserverStopped } from "./observer-stopped.ts";

/**
 * How a run ended.
 *
 * - `completed`: the handler returned although nobody had told it to
 * - `stopped`: it settled after its signal had aborted; `error` is there if it threw something else than the reason
 * - `failed`: it threw, or its signal aborted with `failed` (then `error` is that reason's cause)
 */
export type RunOutcome =
  | { readonly outcome: "completed" }
  | { readonly outcome: "stopped"; readonly error?: Error }
  | { readonly outcome: "failed"; readonly error: Error };

/** Runs the handler and turns its end into data; never rejects. */
export async function settleRun<P>(definition: ObserverDefinition<P>, context: ObserverContext<P>): Promise<RunOutcome> {
  try {
    const returned: unknown = await definition.run(context);
    if (context.signal.aborted) return afterAbort(context.signal);
    refuseIterator(returned);
    return { outcome: "completed" };
  } catch (thrown) {
    return context.signal.aborted ? afterAbort(context.signal, thrown) : { outcome: "failed", error: errorOf(thrown) };
  }
}

function afterAbort(signal: AbortSignal, thrown?: unknown): RunOutcome {
  const reason: unknown = signal.reason;
  if (isObserverStopped(reason) && reason.code === "failed") {
    return { outcome: "failed", error: errorOf(reason.cause ?? reason) };
  }
  if (thrown === undefined || comesFrom(thrown, reason)) return { outcome: "stopped" };
  return { outcome: "stopped", error: errorOf(thrown) };
}

/**
 * `node:timers/promises` and others reject with an AbortError whose cause is the signal's reason, the client's creates with a CallError that has the
 * reason's name; an emit that a lost lease ended rejects with the reason of that, which may not be the signal's.
 */
function comesFrom(thrown: unknown, reason: unknown): boolean {
  if (thrown === reason) return true;
  return isError(thrown) && (isObserverStopped(thrown) || thrown.name === "AbortError" || thrown.cause === reason);
}
