import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 25;

/**
 * Calls `fn` every 25 ms until it neither throws nor returns `false`, and returns what it returned. When the time is up,
 * fails with `what` and the last error: the assertion's own message, rather than "timed out".
 */
export async function eventually<T>(
  fn: () => T | Promise<T>,
  options: { timeoutMs?: number; what?: string } = {},
): Promise<T> {
  const { timeoutMs = 10_000, what = "the assertion" } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const outcome = await attempt(fn);
    if (outcome.holds) return outcome.value;
    if (performance.now() >= deadline) throw failure(what, timeoutMs, outcome.error);
    await sleep(STEP_MS);
  }
}

type Outcome<T> = { holds: true; value: T } | { holds: false; error: unknown };

async function attempt<T>(fn: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await fn();
    return value === false ? { holds: false, error: new Error("it returned false") } : { holds: true, value };
  } catch (error) {
    return { holds: false, error };
  }
}

function failure(what: string, timeoutMs: number, last: unknown): Error {
  const reason = last instanceof Error ? last.message : String(last);
  return new Error(`Within ${timeoutMs} ms, ${what} never held. Last: ${reason}`, { cause: last });
}
