import { nextCron } from "./cron.ts";
import { instantOfWall, wallAt } from "./zone.ts";

/**
 * The first time after that instant at which the zone's clock shows what the expression says, by the rule of cron.ts; undefined: there is
 * none. Throws for an expression that has a flaw.
 */
export const nextByClock = (expression: string, timeZone: string, afterMs: number): number | undefined =>
  (namesItsTime(expression) ? nextNamed : nextCron)(expression, timeZone, afterMs);

/** Whether it names its seconds, minutes and hours. */
const namesItsTime = (expression: string): boolean => !/[*/?]/.test(expression.trim().split(/\s+/).slice(0, -3).join(" "));

/** No clock is put forward further than this for the summer: Vixie cron takes it for a correction, and runs nothing of it. */
const LONGEST_GAP_MS = 3 * 3_600_000;

/**
 * croner says what the calendar has, and the zone when its clock shows that, which keeps to the rule by itself. Asked for both, croner 11.0.1 leaves out
 * the day whose time never comes where the gap ends at midnight: 23:30 in America/Nuuk, each March.
 */
function nextNamed(expression: string, timeZone: string, afterMs: number): number | undefined {
  const onCalendar = (after: number): number | undefined => nextCron(expression, "UTC", after);
  for (let wallMs = onCalendar(wallAt(afterMs, timeZone)); wallMs !== undefined; wallMs = onCalendar(wallMs)) {
    const atMs = instantOfWall(wallMs, timeZone);
    // What is shown for the second time was due the first time.
    if (atMs > afterMs && !isOfNoDay(wallMs, atMs, timeZone)) return atMs;
  }
  return undefined;
}

/** Whether the zone leaves that day out, as Samoa did 30 December 2011 when it went over the date line. */
function isOfNoDay(wallMs: number, atMs: number, timeZone: string): boolean {
  const shownMs = wallAt(atMs, timeZone);
  return shownMs !== wallMs && shownMs - wallAt(atMs - 1_000, timeZone) > LONGEST_GAP_MS;
}
