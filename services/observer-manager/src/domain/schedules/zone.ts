import { orUnreadable } from "./unreadable-timing.ts";

/** The clock of a place: what it shows at an instant, and when it shows a time. Rules of zones are those of the ICU that Node has. */
export interface LocalTime {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

const DAY_MS = 86_400_000;
/** There are some 600 names; but each may be written in any case. */
const MAX_KEPT = 2_000;
const formats = new Map<string, Intl.DateTimeFormat>();

export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

export function localOf(instantMs: number, timeZone: string): LocalTime {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(instantMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return {
    year: part("year"),
    month: part("month"),
    day: part("day"),
    hour: part("hour"),
    minute: part("minute"),
    second: part("second"),
  };
}

/**
 * The instant at which the clock shows it. What it shows twice is the first of the two; what it never shows, as it is put forward, is the
 * moment in which it is.
 */
export const instantOf = (local: LocalTime, timeZone: string): number => instantOfWall(asUtc(local), timeZone);

/** Does the same for a time of the clock in the form of `wallAt`. */
export function instantOfWall(wallMs: number, timeZone: string): number {
  const before = offsetAt(wallMs - DAY_MS, timeZone);
  const after = offsetAt(wallMs + DAY_MS, timeZone);
  const early = wallMs - before;
  if (after === before || offsetAt(early, timeZone) === before) return early;
  const late = wallMs - after;
  if (offsetAt(late, timeZone) === after) return late;
  return changeBetween(wallMs - DAY_MS, wallMs + DAY_MS, timeZone);
}

/** ISO 8601 with the offset that holds then. */
export function localText(instantMs: number, timeZone: string): string {
  const offset = offsetAt(instantMs, timeZone);
  const minutes = Math.abs(Math.round(offset / 60_000));
  const two = (value: number): string => String(value).padStart(2, "0");
  const shown = new Date(instantMs + offset).toISOString().replace(".000Z", "").replace("Z", "");
  return `${shown}${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** When the offset changes: it differs at the two ends. */
function changeBetween(fromMs: number, toMs: number, timeZone: string): number {
  const before = offsetAt(fromMs, timeZone);
  let [low, high] = [fromMs, toMs];
  while (high - low > 1_000) {
    const middle = low + Math.floor((high - low) / 2_000) * 1_000;
    if (offsetAt(middle, timeZone) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** How far its clock is ahead of UTC from one instant to another, some days later; undefined: that changes meanwhile. */
export function steadyOffset(fromMs: number, toMs: number, timeZone: string): number | undefined {
  const offset = offsetAt(fromMs, timeZone);
  return offsetAt(toMs, timeZone) === offset ? offset : undefined;
}

/** What the clock shows at an instant, to the second, as if it were UTC. */
export const wallAt = (instantMs: number, timeZone: string): number => asUtc(localOf(instantMs, timeZone));

/** How far its clock is ahead of UTC. */
function offsetAt(instantMs: number, timeZone: string): number {
  const wholeSecondMs = Math.floor(instantMs / 1_000) * 1_000;
  return wallAt(wholeSecondMs, timeZone) - wholeSecondMs;
}

const asUtc = ({ year, month, day, hour, minute, second }: LocalTime): number =>
  Date.UTC(year, month - 1, day, hour, minute, second);

const FORMAT = {
  calendar: "gregory",
  numberingSystem: "latn",
  hourCycle: "h23",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const;

/** Throws an UnreadableTiming where there is no such zone. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = orUnreadable(() => new Intl.DateTimeFormat("en-US", { ...FORMAT, timeZone }));
  if (formats.size >= MAX_KEPT) formats.delete(formats.keys().next().value as string);
  formats.set(timeZone, format);
  return format;
}
