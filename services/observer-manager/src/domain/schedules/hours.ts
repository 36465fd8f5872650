import { type ScheduledHours, type Wanted, WEEKDAYS } from "@unacked/contracts";
import { instantOf, localOf, steadyOffset } from "./zone.ts";

/** When something is wanted: hours by the clock of a zone. */
export interface Hours {
  hours: readonly ScheduledHours[];
  /** Days on which no hours begin: YYYY-MM-DD. */
  except: readonly string[];
  timeZone: string;
  /** What is wanted in these hours; outside of them the other is. */
  wanted: Wanted;
}

const DAY_MS = 86_400_000;
/** Nothing is looked for beyond that: hours on the 29th of February alone cannot be said. */
const AHEAD_DAYS = 400;

/** What is wanted from an instant on. */
export interface Change {
  atMs: number;
  wanted: Wanted;
}

/** What is wanted at an instant. */
export const wantedAt = (of: Hours, instantMs: number): Wanted => wantedIf(isWithin(of, instantMs), of);

const wantedIf = (isWithinHours: boolean, { wanted }: Hours): Wanted =>
  isWithinHours ? wanted : wanted === "running" ? "paused" : "running";

/** When that changes next, after the instant; undefined: not within AHEAD_DAYS. */
export function nextChange(of: Hours, afterMs: number): number | undefined {
  for (const { atMs } of changesAfter(of, afterMs)) return atMs;
  return undefined;
}

/**
 * All that changes after an instant, in order, until nothing does for AHEAD_DAYS. Each day is looked at once, however many changes it has:
 * fifty hours of a week in which the clock is put back took 15 ms for each change when it began again there, 15 s for a thousand.
 */
export function* changesAfter(of: Hours, afterMs: number): Generator<Change> {
  // When the hours end that it is within; undefined: it is within none.
  let untilMs: number | undefined;
  let lastAhead = 0;
  for (const { day, ahead } of daysFrom(afterMs - 2 * DAY_MS, of.timeZone)) {
    if (ahead - lastAhead >= AHEAD_DAYS) return;
    if (untilMs !== undefined && instantAt(day, "00:00", 0, of.timeZone) > untilMs) {
      yield { atMs: untilMs, wanted: wantedIf(false, of) };
      [untilMs, lastAhead] = [undefined, ahead];
    }
    // They are in order from day to day, too: none of a day begins before those of the day before.
    for (const { fromMs, toMs } of hoursOf(of, day).toSorted((one, other) => one.fromMs - other.fromMs)) {
      if (toMs <= fromMs || toMs <= (untilMs ?? afterMs)) continue;
      if (untilMs !== undefined && fromMs > untilMs) {
        yield { atMs: untilMs, wanted: wantedIf(false, of) };
        [untilMs, lastAhead] = [undefined, ahead];
      }
      if (untilMs === undefined && fromMs > afterMs) {
        yield { atMs: fromMs, wanted: wantedIf(true, of) };
        lastAhead = ahead;
      }
      untilMs = toMs;
    }
  }
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

/** The hours that begin on a day. */
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

function* daysFrom(instantMs: number, timeZone: string): Generator<{ day: Day; ahead: number }> {
  const { year, month, day } = localOf(instantMs, timeZone);
  for (let ahead = 0; ; ahead += 1) yield { day: dayOf(new Date(Date.UTC(year, month - 1, day + ahead))), ahead };
}

const dayOf = (date: Date): Day => ({
  year: date.getUTCFullYear(),
  month: date.getUTCMonth() + 1,
  day: date.getUTCDate(),
});
