import type { ScheduleTimes, Wanted } from "@unacked/contracts";
import type { Definition } from "./definition.ts";
import { nextChange, wantedAt } from "./hours.ts";
import { jitterOf, nextTime } from "./times.ts";
import { localText } from "./zone.ts";

export type ShownTime = ScheduleTimes["times"][number];

/** What it is made of, as it is shown. */
export function expressionOf(definition: Definition): Pick<ScheduleTimes, "cron" | "everyMs" | "hours" | "timeZone"> {
  if (definition.kind === "observers") {
    const { hours, timeZone } = definition.hours;
    return { cron: null, everyMs: null, hours: [...hours], timeZone };
  }
  const { rhythm } = definition.timing;
  return "cron" in rhythm
    ? { cron: rhythm.cron, everyMs: null, hours: null, timeZone: rhythm.timeZone }
    : { cron: null, everyMs: rhythm.everyMs, hours: null, timeZone: "UTC" };
}

/** The times after one instant and before another, at most so many; of observers, when they change. Throws as nextTime does. */
export function timesAhead(
  definition: Definition,
  id: string,
  { afterMs, beforeMs, n }: { afterMs: number; beforeMs: number; n: number },
): ShownTime[] {
  const times: ShownTime[] = [];
  const { timeZone } = expressionOf(definition);
  for (let at = nextOf(definition, afterMs); at !== undefined && at < beforeMs; at = nextOf(definition, at)) {
    if (times.length === n) break;
    const jitterMs = definition.kind === "task" ? jitterOf(id, at, definition.timing.jitterMs) : 0;
    const wanted: Wanted | null = definition.kind === "task" ? null : wantedAt(definition.hours, at);
    times.push({
      at: new Date(at).toISOString(),
      local: localText(at, timeZone),
      dueAt: new Date(at + jitterMs).toISOString(),
      wanted,
    });
  }
  return times;
}

export const nextOf = (definition: Definition, afterMs: number): number | undefined =>
  definition.kind === "task" ? nextTime(definition.timing, afterMs) : nextChange(definition.hours, afterMs);
