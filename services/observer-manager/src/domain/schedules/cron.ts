import { Cron } from "croner";

/**
 * When an expression is due, by the clock of a zone. croner reads it. The rule for hours that come twice or never is Vixie
 * cron's: an expression that names its seconds, minutes and hours (no `*`, no step) runs once at a time that comes twice, the first
 * time, and where its time never comes, at the end of the gap (by-clock.ts, which asks for these in UTC). One with `*` or a step runs each time that
 * the clock shows it.
 */
const OPTIONS = { mode: "5-or-6-parts", fixedTimeRule: "no-wildcard", paused: true } as const;

/** So many expressions are kept as they were read; reading one takes as long as some of its times. */
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

/** The first time after that instant, as croner has it; undefined: there is none. Throws for what has a flaw. */
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
