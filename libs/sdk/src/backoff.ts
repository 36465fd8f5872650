import { SdkError } from "./sdk-error.ts";

/** How delays grow; all of it may be left out. */
export type BackoffOptions = {
  /** The first delay, milliseconds from 0. Default 1,000. */
  readonly initialMs?: number;
  /** Each delay is the one before times this, at least 1. Default 2. */
  readonly factor?: number;
  /** No delay grows beyond this (before its jitter), milliseconds. Default 300,000 (5 min). */
  readonly maxMs?: number;
  /** The share of a delay that is left to chance, 0–1: 0.2 draws from d ± 20 %, as in a retry policy. Default 0.2. */
  readonly jitter?: number;
  /** Where chance comes from: a number from 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
};

/** Delays that grow from failure to failure. */
export type Backoff = {
  /** The delay before the next attempt, whole milliseconds; each call counts as one more failure. */
  nextMs(): number;
  /** Back to the first delay: call it once things go well. */
  reset(): void;
};

/**
 * Delays that grow from failure to failure, for a handler that tries again by itself. Throws `invalid-option` on an option out of its
 * range.
 *
 * @example
 * ```ts
 * import { backoff, sleep } from "@unacked/sdk";
 *
 * export async function untilItWorks(attempt: () => Promise<void>, signal: AbortSignal): Promise<void> {
 *   const delays = backoff({ maxMs: 60_000 });
 *   do {
 *     try {
 *       return await attempt();
 *     } catch {
 *       signal.throwIfAborted();
 *     }
 *   } while (await sleep(delays.nextMs(), signal));
 * }
 * ```
 */
export function backoff(options: BackoffOptions = {}): Backoff {
  const { initialMs = 1_000, factor = 2, maxMs = 300_000, jitter = 0.2, random = Math.random } = options;
  const inRange = initialMs >= 0 && factor >= 1 && maxMs >= 0 && jitter >= 0 && jitter <= 1;
  if (!inRange) {
    throw new SdkError("invalid-option", "backoff takes initialMs ≥ 0, factor ≥ 1, maxMs ≥ 0 and jitter 0–1");
  }
  let baseMs = Math.min(initialMs, maxMs);
  return {
    nextMs() {
      const delayMs = baseMs * (1 + jitter * (2 * random() - 1));
      baseMs = Math.min(baseMs * factor, maxMs);
      return Math.round(delayMs);
    },
    reset() {
      baseMs = Math.min(initialMs, maxMs);
    },
  };
}
