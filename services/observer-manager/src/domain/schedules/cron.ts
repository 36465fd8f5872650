import { Cron } from "croner";
import { instantOf, localOf, steadyOffset } from "./zone.ts";

/**
 * When an expression is due, by the clock of a zone. croner reads it. The rule for hours that come twice or never is Vixie
 * cron's: an expression that names its seconds, minutes and hours (no `*`, no step) runs once at a time that comes twice, the first
 * time, and where its time never comes, at the end of the gap. One with `*` or a step runs each time that the clock shows it.
 */
const OPTIONS = { mode: "5-or-6-parts", fixedTimeRule: "no-wildcard", paused: true } as const;

const DAY_MS = 86_400_000;
/** So many are kept as they were read; reading one takes as long as some of its times. */
const MAX_KEPT = 5_000;
const kept = new Map<string, Cron>();

/** What croner says against it, in its own words; undefined: it reads it. */
export function cronersFlaw(expression: string, timeZone: string): string | undefined {
  try {
    new Cron(expression, { ...OPTIONS, timezone: timeZone }).stop();
    return undefined;
  } catch (error) {
    return String((error as Error).message).replace(/^CronPattern: /, "");
  }
}

/** The first time after that instant; undefined: there is none. Throws for what has a flaw. */
export function nextCron(expression: string, timeZone: string, afterMs: number): number | undefined {
  if (namesItsTime(expression)) return nextNamed(expression, timeZone, afterMs);
  return nextOf(expression, timeZone, afterMs);
}

const nextOf = (expression: string, timeZone: string, afterMs: number): number | undefined =>
  cronOf(expression, timeZone).nextRun(new Date(afterMs))?.getTime();

/** As croner has it of `no-wildcard`. */
const namesItsTime = (expression: string): boolean => !/[*?/]/.test(expression.trim().split(/\s+/).slice(0, -3).join(" "));

/**
 * By the face of the clock, each of whose times is one instant. croner alone looks for the end of a gap on the same day, and finds none where
 * that is midnight: in Greenland 23:00 becomes 00:00, and what ran each day at 23:30 did not on that one.
 */
function nextNamed(expression: string, timeZone: string, afterMs: number): number | undefined {
  const { year, month, day, hour, minute, second } = localOf(afterMs, timeZone);
  let faceMs: number | undefined = Date.UTC(year, month - 1, day, hour, minute, second);
  for (;;) {
    faceMs = nextOf(expression, "UTC", faceMs);
    if (faceMs === undefined) return undefined;
    const atMs = instantOfFace(faceMs, timeZone);
    // Not later where it comes the second time, or lies in the gap that has passed.
    if (atMs !== undefined && atMs > afterMs) return atMs;
  }
}

/** @returns undefined: its whole day is not there, as in Samoa when it went over the date line */
function instantOfFace(faceMs: number, timeZone: string): number | undefined {
  const offset = steadyOffset(faceMs - 2 * DAY_MS, faceMs + 2 * DAY_MS, timeZone);
  if (offset !== undefined) return faceMs - offset;
  const shown = localOf(faceMs, "UTC");
  const atMs = instantOf(shown, timeZone);
  return [atMs, atMs - 1_000].some((ms) => localOf(ms, timeZone).day === shown.day) ? atMs : undefined;
}

function cronOf(expression: string, timeZone: string): Cron {
  const key = `${timeZone} ${expression}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const cron = new Cron(expression, { ...OPTIONS, timezone: timeZone });
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
  kept.set(key, cron);
  return cron;
}
