import { Cron } from "croner";
import { fieldFlaw } from "./cron-flaw.ts";

/**
 * When an expression is due, by the clock of a zone. croner reads it. Its rule for hours that come twice or never, which is Vixie
 * cron's: an expression that names its seconds, minutes and hours (no `*`, no step) runs once at a time that comes twice, the first
 * time, and where its time never comes, at the end of the gap. One with `*` or a step runs each time that the clock shows it.
 */
const OPTIONS = { mode: "5-or-6-parts", fixedTimeRule: "no-wildcard", paused: true } as const;

/** So many are kept as they were read; reading one takes as long as some of its times. */
const MAX_KEPT = 5_000;
const kept = new Map<string, Cron>();

/** What is wrong with it; undefined: nothing. */
export function cronFlaw(expression: string, timeZone: string): string | undefined {
  // Nicknames and dates are croner's own; everybody else's cron has fields.
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6)
    return `must have five fields, or six with seconds; it has ${fields.length}`;
  try {
    return cronOf(expression, timeZone).nextRun(new Date(0)) === null ? "is never due" : undefined;
  } catch (error) {
    const why = String((error as Error).message).replace(/^CronPattern: /, "");
    return fieldFlaw(fields, { ...OPTIONS, timezone: timeZone }) ?? why;
  }
}

/** The first time after that instant; undefined: there is none. Throws for what has a flaw. */
export function nextCron(expression: string, timeZone: string, afterMs: number): number | undefined {
  return cronOf(expression, timeZone).nextRun(new Date(afterMs))?.getTime();
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
