import { currentOwner } from "../isolation.ts";

const { stringify } = JSON;

/**
 * For the watchdog, which asks this thread in the middle of whatever it does: whose code that is, and where.
 *
 * @param isUsed whether a run has begun here
 */
export function installWhereabouts(isUsed: () => boolean): void {
  const whereabouts = (): string => {
    const { runId, file } = currentOwner() ?? {};
    return stringify({ runId, file, isUsed: isUsed(), stack: stackAbove(whereabouts) });
  };
  Object.defineProperty(globalThis, Symbol.for("unacked.whereabouts"), { value: whereabouts });
}

/** The stack as V8 writes it: authors may have set something that changes it, or throws. Undefined if it cannot be had. */
function stackAbove(caller: () => string): string | undefined {
  try {
    const { prepareStackTrace } = Error;
    const here = { stack: "" };
    Object.assign(Error, { prepareStackTrace: undefined });
    try {
      Error.captureStackTrace(here, caller);
      return String(here.stack);
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
  } catch {
    return undefined;
  }
}
