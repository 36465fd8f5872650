import { backoffMs } from "@unacked/contracts";
import { CallError } from "../call-error.ts";
import { pause } from "../event-stream.ts";
import { JoinedSignal } from "../joined-signal.ts";
import { type Calls, longestWaitMs } from "./calls.ts";

export interface WaitOptions {
  signal?: AbortSignal | undefined;
  /** Default: as long as it takes. */
  timeoutMs?: number | undefined;
}

const DELAYS = { firstMs: 250, maxMs: 5_000 };
const MAX_WAIT_S = 60;
/** A manager that has too many waiting calls answers at once. It is not asked more often than this. */
const LEAST_ROUND_MS = 1_000;

/** A task or a flow that is waited for. */
export interface Awaited<View> {
  calls: Pick<Calls, "timeoutMs">;
  /** Answers when it is over, or after `wait` (`30s`). */
  look(wait: string, signal: AbortSignal): Promise<View>;
  isOver(view: View): boolean;
  /** The error for when `timeoutMs` is over and the thing is not. */
  notOver(seen: View | undefined, timeoutMs: number, cause: unknown): Error;
  /** How many looks in a row may time out: as each does the same, further ones would, too. Default: no limit. */
  mostTimedOut?: number;
}

/**
 * Waits for an end, also over a restart of the manager. Rejects if waiting is useless, with `notOver`, or with the reason of `signal`.
 */
export async function untilOver<View>(
  { calls, look, isOver, notOver, mostTimedOut = Number.POSITIVE_INFINITY }: Awaited<View>,
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: WaitOptions,
): Promise<View> {
  const endMs = performance.now() + timeoutMs;
  const mostS = Math.min(MAX_WAIT_S, Math.floor(longestWaitMs(calls) / 1_000));
  let seen: View | undefined;
  let failure: unknown;
  let timedOut = 0;
  for (let failures = 0; ; ) {
    signal?.throwIfAborted();
    const beganMs = performance.now();
    const leftMs = Math.floor(endMs - beganMs);
    if (leftMs < 1) throw notOver(seen, timeoutMs, failure);
    const inTime = new JoinedSignal([signal], leftMs);
    // The manager waits in whole seconds, so a shorter look would be broken off without an answer.
    const isShort = leftMs < 1_000 && seen === undefined;
    const waitS = isShort ? 0 : Math.min(mostS, Math.max(1, Math.floor(leftMs / 1_000)));
    try {
      seen = await look(`${waitS}s`, inTime.signal);
      inTime.release();
      if (isOver(seen)) return seen;
      failure = undefined;
      failures = 0;
      timedOut = 0;
      if (!isShort) await pauseUntil(beganMs + LEAST_ROUND_MS, endMs, signal);
    } catch (error) {
      inTime.release();
      if (signal?.aborted) throw signal.reason;
      if (inTime.isTimeUp) continue;
      if (!(error instanceof CallError && error.isPassing)) throw error;
      const isTooLong = error.kind === "timed-out" || error.status === 504; // a proxy has timed out first
      timedOut = isTooLong ? timedOut + 1 : 0;
      if (timedOut >= mostTimedOut) throw error;
      failure = error;
      await pauseUntil(performance.now() + backoffMs(DELAYS, failures), endMs, signal);
      failures += 1;
    }
  }
}

/** A timer may be early by a part of a millisecond. */
const pauseUntil = (untilMs: number, endMs: number, signal: AbortSignal | undefined): Promise<void> =>
  pause(Math.ceil(Math.min(untilMs, endMs) - performance.now()), signal);
