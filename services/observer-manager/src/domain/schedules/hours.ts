import { type ScheduledHours, type Wanted, WEEKDAYS } from "@unacked/contracts";
import { instantOf, localOf, steadyOffset } from "./zone.ts";

/** When something is wanted: hours by the clock of a zone. */
export interface Hours {
  hours: readonly ScheduledHours[];
  /** Days without: YYYY-MM-DD. */
  except: readonly string[];
  timeZone: string;
  /** In these hours. */
  wanted: Wanted;
}

const DAY_MS = 86_400_000;
/** Beyond that nothing is looked for: hours on the 29th of February alone cannot be said. */
const AHEAD_DAYS = 400;

/** What is wanted at an instant. */
export const wantedAt = (of: Hours, instantMs: number): Wanted =>
  isWithin(of, instantMs) ? of.wanted : of.wanted === "running" ? "paused" : "running";

/**
 * When that changes next, after the instant; undefined: not within a year. Each day is looked at once: hours that never end, in fifty
 * pieces, are a year of days to look at.
 */
export function nextChange(of: Hours, afterMs: number): number | undefined {
  // It is as it was at that instant until here.
  let untilMs = afterMs;
  for (const day of daysFrom(afterMs - 2 * DAY_MS, of.timeZone)) {
    if (untilMs > afterMs && instantAt(day, "00:00", 0, of.timeZone) > untilMs) return untilMs;
    // In order, from day to day, too: none of a day begins before those of the day before.
    for (const { fromMs, toMs } of hoursOf(of, day).toSorted((one, other) => one.fromMs - other.fromMs)) {
      if (toMs <= untilMs || toMs <= fromMs) continue;
      if (fromMs > untilMs) return untilMs > afterMs ? untilMs : fromMs;
      untilMs = toMs;
    }
  }
  return undefined;
}

function isWithin(of: Hours, instantMs: number): boolean {
  const { year, month, day } = localOf(instantMs, of.timeZone);
  const today = { year, month, day };
  const yesterday = dayOf(new Date(Date.UTC(year, month - 1, day - 1)));
  return [yesterday, today].some((one) =>
    hoursOf(of, one).some(({ fromMs, toMs }) => fromMs <= instantMs && instantMs < toMs),
  );
}

interface Day {
  year: number;
  month: number;
  day: number;
}

/** Those that begin on a day. */
function hoursOf({ hours, except, timeZone }: Hours, day: Day): { fromMs: number; toMs: number }[] {
  const date = new Date(Date.UTC(day.year, day.month - 1, day.day));
  if (except.includes(date.toISOString().slice(0, 10))) return [];
  const weekday = WEEKDAYS[(date.getUTCDay() + 6) % 7];
  const those = hours.filter(({ days }) => days.some((one) => one === weekday));
  if (those.length === 0) return [];
  const offset = steadyOffset(date.getTime() - DAY_MS, date.getTime() + 4 * DAY_MS, timeZone);
  return those.map(({ from, to }) => ({
    fromMs: instantAt(day, from, 0, timeZone, offset),
    toMs: instantAt(day, to, to > from ? 0 : 1, timeZone, offset),
  }));
}

/** @param offset how far the clock is ahead of UTC all the time around it; undefined: it is to be found */
function instantAt({ year, month, day }: Day, time: string, daysLater: number, timeZone: string, offset?: number): number {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  // 24:00 is the next day's 00:00.
  const wallMs = Date.UTC(year, month - 1, day + daysLater, hour, minute);
  if (offset !== undefined) return wallMs - offset;
  return instantOf({ ...dayOf(new Date(wallMs)), hour: hour % 24, minute, second: 0 }, timeZone);
}

function* daysFrom(instantMs: number, timeZone: string): Generator<Day> {
  const { year, month, day } = localOf(instantMs, timeZone);
  for (let ahead = 0; ahead < AHEAD_DAYS; ahead += 1) yield dayOf(new Date(Date.UTC(year, month - 1, day + ahead)));
}

const dayOf = (date: Date): Day => ({
  year: date.getUTCFullYear(),
  month: date.getUTCMonth() + 1,
  day: date.getUTCDate(),
});
