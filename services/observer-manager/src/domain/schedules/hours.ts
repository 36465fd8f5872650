import { type ScheduledHours, type Wanted, WEEKDAYS } from "@unacked/contracts";
import { instantOf, localOf } from "./zone.ts";

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

/** When that changes next, after the instant; undefined: not within a year. */
export function nextChange(of: Hours, afterMs: number): number | undefined {
  for (const day of daysFrom(afterMs - 2 * DAY_MS, of.timeZone)) {
    const edges = hoursOf(of, day).flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
    const later = edges.filter((edge) => edge > afterMs && isWithin(of, edge) !== isWithin(of, edge - 1));
    // Hours of the day before may end after those of this one have begun: but none of them begins or ends before these.
    if (later.length > 0) return Math.min(...later, ...edgesOfNextDay(of, day, afterMs));
  }
  return undefined;
}

function edgesOfNextDay(of: Hours, { year, month, day }: Day, afterMs: number): number[] {
  const next = new Date(Date.UTC(year, month - 1, day + 1));
  const edges = hoursOf(of, dayOf(next)).flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
  return edges.filter((edge) => edge > afterMs && isWithin(of, edge) !== isWithin(of, edge - 1));
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
  return hours
    .filter(({ days }) => days.some((one) => one === weekday))
    .map(({ from, to }) => ({
      fromMs: instantAt(day, from, 0, timeZone),
      toMs: instantAt(day, to, to > from ? 0 : 1, timeZone),
    }));
}

function instantAt({ year, month, day }: Day, time: string, daysLater: number, timeZone: string): number {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  // 24:00 is the next day's 00:00.
  const date = new Date(Date.UTC(year, month - 1, day + daysLater + (hour === 24 ? 1 : 0)));
  return instantOf({ ...dayOf(date), hour: hour % 24, minute, second: 0 }, timeZone);
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
