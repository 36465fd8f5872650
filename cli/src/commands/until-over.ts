import { setTimeout as sleep } from "node:timers/promises";
import type { CliFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import { LostConnection } from "./lost-connection.ts";

/** How long one call waits for the end at most. */
const LONGEST_LOOK_S = 20;
/** A manager that stops, or has too many waiting calls, answers at once. It is not asked more often than this. */
const LEAST_ROUND_MS = 500;

interface Awaited<View> {
  /** How it stands. @param wait as calls take it, `7s`: answers when it is over, or after so long, or at once. @param timeUp ends the call */
  look(wait: string, timeUp: AbortSignal | undefined): Promise<View>;
  isOver(view: View): boolean;
  /** Without it, the wait takes as long as it takes. */
  within?: { timeoutMs: number; notOver(last: View): CliFailure };
}

/**
 * Waits for the end of what was begun. A restart of the manager ends no wait: whoever reads "unreachable, try again" of a job that goes
 * on would begin a second one. A refusal ends it.
 */
export async function untilOver<View>(
  { api, io }: Session,
  first: View,
  { look, isOver, within }: Awaited<View>,
): Promise<View> {
  const endMs = performance.now() + (within?.timeoutMs ?? Number.POSITIVE_INFINITY);
  const timeUp = within && AbortSignal.timeout(within.timeoutMs);
  let last = first;
  const lost = new LostConnection(io);
  while (!isOver(last)) {
    const beganMs = performance.now();
    const leftMs = endMs - beganMs;
    if (within !== undefined && leftMs <= 0) throw within.notOver(last);
    try {
      const waitS = Math.floor(Math.min(LONGEST_LOOK_S, leftMs / 1_000, (api.timeoutMs * 0.75) / 1_000));
      last = await look(`${waitS}s`, timeUp);
      lost.over();
    } catch (error) {
      if (timeUp?.aborted !== true) lost.tell(error);
    }
    if (!isOver(last)) await sleep(Math.max(0, Math.min(beganMs + LEAST_ROUND_MS, endMs) - performance.now()));
  }
  return last;
}
