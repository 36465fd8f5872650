import type { ScheduleTimes } from "@unacked/contracts";

type Time = ScheduleTimes["times"][number];

/** A day by the clock of the schedule's zone. `x`: in parts of a day, as its clock shows it. */
export interface CalendarDay {
  /** YYYY-MM-DD */
  date: string;
  /** Of a task: when one starts. */
  ticks: { x: number; at: string; local: string }[];
  /** Of observers: when they are wanted running. */
  spans: { from: number; to: number }[];
}

export const CALENDAR_DAYS = 14;

const DAY_MS = 86_400_000;
const DATE = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})/;

/** The date, and how much of it has gone, by the clock that `local` shows. An hour that comes twice is drawn twice at one place. */
function placeOf(local: string): { date: string; x: number } | null {
  const [, date, hours, minutes, seconds] = DATE.exec(local) ?? [];
  if (date === undefined) return null;
  return { date, x: (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) / 86_400 };
}

const next = (date: string, days = 1): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/**
 * The days from `today` on, with what is due in each.
 *
 * @param today YYYY-MM-DD, by the schedule's clock @param wantedNow of observers: how they are wanted before the first of `times`
 */
export function calendarOf(times: readonly Time[], today: string, wantedNow: "running" | "paused" | null): CalendarDay[] {
  const days = Array.from(
    { length: CALENDAR_DAYS },
    (_, i): CalendarDay => ({ date: next(today, i), ticks: [], spans: [] }),
  );
  const dayOf = new Map(days.map((day) => [day.date, day]));
  const changes: { date: string; x: number; wanted: "running" | "paused" }[] = [];
  for (const { at, local, wanted } of times) {
    const place = placeOf(local);
    if (place === null) continue;
    if (wanted === null) dayOf.get(place.date)?.ticks.push({ x: place.x, at, local });
    else changes.push({ ...place, wanted });
  }
  if (wantedNow !== null) fillSpans(days, changes, wantedNow);
  return days;
}

/** Where they run, day by day. */
function fillSpans(
  days: CalendarDay[],
  changes: readonly { date: string; x: number; wanted: "running" | "paused" }[],
  wantedNow: "running" | "paused",
): void {
  let wanted = wantedNow;
  for (const day of days) {
    let from = 0;
    for (const change of changes.filter(({ date }) => date === day.date)) {
      if (wanted === "running" && change.x > from) day.spans.push({ from, to: change.x });
      ({ x: from, wanted } = change);
    }
    if (wanted === "running") day.spans.push({ from, to: 1 });
  }
}

/** An instant after all of it, in whichever zone. */
export const endOfCalendar = (today: string): string => `${next(today, CALENDAR_DAYS + 1)}T00:00:00Z`;

/** Today by the clock of a zone; undefined where the browser does not know that, as its list may be older than the manager's. */
export function dateIn(timeZone: string, ms: number): string | undefined {
  try {
    return new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(ms);
  } catch {
    return undefined; // RangeError, by ECMA-402
  }
}

/** A day in words: `2 times`, `running 09:30–16:00`. */
export function sayDay({ ticks, spans }: CalendarDay): string {
  if (spans.length > 0) return `running ${spans.map(({ from, to }) => `${clock(from)}–${clock(to)}`).join(", ")}`;
  if (ticks.length === 0) return "nothing";
  return ticks.length === 1 ? "1 time" : `${ticks.length} times`;
}

const clock = (x: number): string => {
  const minutes = Math.round(x * 1_440);
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
};
