import { onAbort } from "./on-abort.ts";
import { SdkError } from "./sdk-error.ts";

/** Node's timers hold 31 bits; a longer delay would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Waits. Resolves `true` after `ms` milliseconds, `false` as soon as the signal aborts; never rejects on an abort, so
 * that a job reads `while (await sleep(1_000, signal)) { … }`. Any finite length works (months too), and less than
 * nothing is over at once: `sleep(everyMs - tookMs, signal)`. Rejects with `invalid-option` if `ms` is not finite.
 *
 * @example
 * ```ts
 * import { sleep } from "@unacked/sdk";
 *
 * export async function everySecond(look: () => Promise<void>, signal: AbortSignal): Promise<void> {
 *   while (await sleep(1_000, signal)) await look();
 * }
 * ```
 */
export async function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  if (!Number.isFinite(ms)) throw new SdkError("invalid-option", `sleep takes milliseconds as a number, not ${shown(ms)}`);
  let leftMs = Math.max(0, ms);
  do {
    const partMs = Math.min(leftMs, longestTimerMs);
    if (!(await sleepOnce(partMs, signal))) return false;
    leftMs -= partMs;
  } while (leftMs > 0);
  return true;
}

/** A text as one: a file in JavaScript may give anything. */
const shown = (ms: unknown): string => (typeof ms === "string" ? JSON.stringify(ms) : String(ms));

function sleepOnce(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      forget();
      resolve(true);
    }, ms);
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

/** One for each signal: a handler may ask in each of its rounds. */
const ABORTS = new WeakMap<AbortSignal, Promise<unknown>>();

/** Resolves with the signal's reason when it aborts (at once if it has); never rejects. */
export function untilAborted(signal: AbortSignal): Promise<unknown> {
  const known = ABORTS.get(signal);
  if (known !== undefined) return known;
  const abort = signal.aborted
    ? Promise.resolve<unknown>(signal.reason)
    : new Promise<unknown>((resolve) => void onAbort(signal, () => resolve(signal.reason)));
  ABORTS.set(signal, abort);
  return abort;
}
