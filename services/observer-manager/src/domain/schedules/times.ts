import { END_OF_TIMES_MS } from "@unacked/contracts";
import { nextByClock } from "./by-clock.ts";
import type { Timing } from "./definition.ts";
import { orUnreadable } from "./unreadable-timing.ts";

/**
 * The first time after an instant, in ms; undefined: there is none before the end of times. Throws an UnreadableTiming where its expression
 * cannot be read (any more).
 */
export function nextTime({ rhythm, startAt, endAt }: Timing, afterMs: number): number | undefined {
  const startMs = startAt === null ? undefined : Date.parse(startAt);
  const since = startMs === undefined ? afterMs : Math.max(afterMs, startMs - 1);
  const next =
    "cron" in rhythm
      ? orUnreadable(() => nextByClock(rhythm.cron, rhythm.timeZone, since))
      : nextMultiple(rhythm.everyMs, startMs ?? 0, since);
  const endMs = endAt === null ? END_OF_TIMES_MS : Math.min(Date.parse(endAt), END_OF_TIMES_MS);
  return next === undefined || next >= endMs ? undefined : next;
}

const nextMultiple = (everyMs: number, originMs: number, afterMs: number): number =>
  originMs + (Math.floor((afterMs - originMs) / everyMs) + 1) * everyMs;

/** The times from one instant on and before another; at most `limit`. */
export function timesBetween(timing: Timing, fromMs: number, toMs: number, limit: number): number[] {
  const times: number[] = [];
  for (let at = nextTime(timing, fromMs - 1); at !== undefined && at < toMs; at = nextTime(timing, at)) {
    if (times.length === limit) break;
    times.push(at);
  }
  return times;
}

/**
 * The last ones from one instant on and before another, in order. Looks back further and further, and less far again where that finds far more
 * than are wanted (each second of a month that is over), so that it takes about as long as there are times wanted, however long the
 * stretch is.
 */
export function lastTimesBetween(timing: Timing, fromMs: number, toMs: number, count: number): number[] {
  const most = 3 * count + 60;
  // So far back there are too few times; and too many.
  let [fewMs, manyMs] = [0, Number.POSITIVE_INFINITY];
  for (let backMs = 60_000; ; backMs = manyMs === Number.POSITIVE_INFINITY ? backMs * 4 : (fewMs + manyMs) / 2) {
    const sinceMs = Math.max(fromMs, toMs - Math.ceil(backMs));
    const times = timesBetween(timing, sinceMs, toMs, most + 1);
    if (times.length > most) manyMs = backMs;
    else if (times.length >= count || sinceMs === fromMs) return times.slice(-count);
    else fewMs = backMs;
  }
}

/** How much later than its time an occurrence is due: always the same for one time of one schedule. */
export function jitterOf(scheduleId: string, atMs: number, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  // FNV-1a, and the last mixing of MurmurHash3: neighbouring times come to far places.
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${scheduleId} ${atMs}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % (jitterMs + 1);
}
