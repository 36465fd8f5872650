import { setTimeout as sleep } from "node:timers/promises";
import { CliFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import { LostConnection } from "./lost-connection.ts";

/** How long one call waits for the end at most. */
const LONGEST_LOOK_S = 20;
/** A manager that stops, or has too many waiting calls, answers at once. It is not asked more often than this. */
const LEAST_ROUND_MS = 500;

interface Awaited<View> {
  /** How it stands. @param wait as calls take it, `7s`: answers when it is over, or after so long, or at once. @param signal ends the call */
  look(wait: string, signal: AbortSignal): Promise<View>;
  isOver(view: View): boolean;
  /** Left out: the wait takes as long as it takes. */
  timeoutMs?: number;
  /** What is said when the time is up, or somebody interrupts: it goes on then. */
  unfinished(last: View): { message: string; remedy: string };
}

/**
 * Waits for the end of what was begun. A restart of the manager ends no wait: whoever reads "unreachable, try again" of a job that goes
 * on would begin a second one. A refusal ends it, and so does Ctrl-C.
 */
export async function untilOver<View>({ api, io }: Session, first: View, awaited: Awaited<View>): Promise<View> {
  const { look, isOver, timeoutMs, unfinished } = awaited;
  const endMs = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY);
  const { signal: interrupted, release } = io.takeSignals();
  const ending = timeoutMs === undefined ? interrupted : AbortSignal.any([interrupted, AbortSignal.timeout(timeoutMs)]);
  const lost = new LostConnection(io);
  let last = first;
  try {
    while (!isOver(last)) {
      const beganMs = performance.now();
      const leftMs = endMs - beganMs;
      const { message, remedy } = unfinished(last);
      if (interrupted.aborted) throw new CliFailure("interrupted", `Interrupted: ${message}`, { remedy });
      if (leftMs <= 0) throw new CliFailure("timedOut", message, { remedy });
      try {
        const waitS = Math.floor(Math.min(LONGEST_LOOK_S, leftMs / 1_000, (api.timeoutMs * 0.75) / 1_000));
        last = await look(`${waitS}s`, ending);
        lost.over();
      } catch (error) {
        if (!ending.aborted) lost.tell(error);
      }
      const pauseMs = Math.max(0, Math.min(beganMs + LEAST_ROUND_MS, endMs) - performance.now());
      if (!isOver(last)) await sleep(pauseMs, undefined, { signal: interrupted }).catch(() => undefined);
    }
    return last;
  } finally {
    release();
  }
}
