import { setTimeout as sleep } from "node:timers/promises";

const FIRST_STEP_MS = 25;
const LONGEST_STEP_MS = 400;
/** Tests say what is long on a quiet machine. One whose processors others use, too, stands still for seconds. */
const PATIENCE = 3;
/** What has not come in a second may take long: a look costs a manager, a database and a broker their time, too. (100 ms at most: 12 % more for a test.) */
const STEP_OF_WAITED = 0.05;

/**
 * Calls `fn` every 25 ms, and up to every 400 once it takes longer, until it neither throws nor returns `false`, and returns what
 * it returned. When the time is up (three times `timeoutMs`, which is 20 s if nobody says), fails with `what` and the last error: the assertion's own
 * message, rather than "timed out".
 */
export async function eventually<T>(
  fn: () => T | Promise<T>,
  options: { timeoutMs?: number; what?: string } = {},
): Promise<T> {
  const { timeoutMs: calmMs = 20_000, what = "the assertion" } = options;
  const timeoutMs = PATIENCE * calmMs;
  const startedMs = performance.now();
  for (;;) {
    const outcome = await attempt(fn);
    if (outcome.holds) return outcome.value;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs >= timeoutMs) throw failure(what, timeoutMs, outcome.error);
    await sleep(Math.min(Math.max(FIRST_STEP_MS, waitedMs * STEP_OF_WAITED), LONGEST_STEP_MS));
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
