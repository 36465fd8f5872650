import { END_OF_TIMES_MS, type ScheduleTimes } from "@unacked/contracts";
import { shownTime } from "../shown-time.ts";
import type { Definition, TaskDefinition } from "./definition.ts";
import { changesAfter, nextChange } from "./hours.ts";
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

/** The times after one instant and before another; of observers, when they change. Each takes a while to find. Throws as nextTime does. */
export function* timesAhead(
  definition: Definition,
  id: string,
  { afterMs, beforeMs }: { afterMs: number; beforeMs: number },
): Generator<ShownTime> {
  const endMs = Math.min(beforeMs, END_OF_TIMES_MS);
  const { timeZone } = expressionOf(definition);
  for (const { atMs, wanted } of definition.kind === "task"
    ? timesOf(definition, afterMs)
    : changesAfter(definition.hours, afterMs)) {
    if (atMs >= endMs) return;
    const jitterMs = definition.kind === "task" ? jitterOf(id, atMs, definition.timing.jitterMs) : 0;
    yield { at: shownTime(atMs), local: localText(atMs, timeZone), dueAt: shownTime(atMs + jitterMs), wanted };
  }
}

function* timesOf({ timing }: TaskDefinition, afterMs: number): Generator<{ atMs: number; wanted: null }> {
  for (let at = nextTime(timing, afterMs); at !== undefined; at = nextTime(timing, at)) yield { atMs: at, wanted: null };
}

export const nextOf = (definition: Definition, afterMs: number): number | undefined =>
  definition.kind === "task" ? nextTime(definition.timing, afterMs) : nextChange(definition.hours, afterMs);
