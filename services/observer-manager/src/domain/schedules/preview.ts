import { END_OF_TIMES_MS, type ScheduleTimes } from "@unacked/contracts";
import { shownTime } from "../shown-time.ts";
import type { Definition, TaskDefinition } from "./definition.ts";
import { firstOf } from "./due.ts";
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

/** Which times are shown. */
export interface Stretch {
  afterMs: number;
  beforeMs: number;
  /** It means the same as for dueTimes. Times from `nextMs` on that have come already are shown, too, if they are due after `afterMs`. */
  undecided?: { nextMs: number; lastMs: number | null } | undefined;
}

/**
 * The times after one instant and before another; a schedule of observers gives its changes. Each takes a while to find; undefined is one
 * that is not shown. Throws as nextTime does.
 */
export function* timesAhead(definition: Definition, id: string, stretch: Stretch): Generator<ShownTime | undefined> {
  const endMs = Math.min(stretch.beforeMs, END_OF_TIMES_MS);
  const { timeZone } = expressionOf(definition);
  for (const { atMs, dueMs, wanted } of definition.kind === "task"
    ? timesOf(definition, id, stretch)
    : changesOf(definition, stretch)) {
    if (atMs >= endMs) return;
    const isShown = (stretch.undecided === undefined ? atMs : dueMs) > stretch.afterMs;
    yield isShown ? { at: shownTime(atMs), local: localText(atMs, timeZone), dueAt: shownTime(dueMs), wanted } : undefined;
  }
}

/**
 * Begins with times before `afterMs`, as long as they may be due later. As in dueTimes none is due before those before it are, and the
 * first not before the time that is planned.
 */
function* timesOf({ timing }: TaskDefinition, id: string, { afterMs, undecided }: Stretch) {
  const dueOf = (atMs: number): number => atMs + jitterOf(id, atMs, timing.jitterMs);
  const sinceMs = afterMs - timing.jitterMs;
  const planned = undecided !== undefined && undecided.nextMs > sinceMs ? undecided : undefined;
  let dueMs = Number.NEGATIVE_INFINITY;
  let at = planned === undefined ? nextTime(timing, sinceMs) : firstOf(timing, planned.nextMs, planned.lastMs);
  if (planned !== undefined && at !== undefined && at < planned.nextMs) dueMs = dueOf(planned.nextMs);
  for (; at !== undefined; at = nextTime(timing, at)) {
    dueMs = Math.max(dueMs, dueOf(at));
    yield { atMs: at, dueMs, wanted: null };
  }
}

function* changesOf({ hours }: Extract<Definition, { kind: "observers" }>, { afterMs }: Stretch) {
  for (const { atMs, wanted } of changesAfter(hours, afterMs)) yield { atMs, dueMs: atMs, wanted };
}

export const nextOf = (definition: Definition, afterMs: number): number | undefined =>
  definition.kind === "task" ? nextTime(definition.timing, afterMs) : nextChange(definition.hours, afterMs);
