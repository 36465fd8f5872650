import {
  type CATCH_UPS,
  type FieldProblem,
  type OVERLAPS,
  type PutSchedule,
  SCHEDULE_DEFAULTS,
  type ScheduledObservers,
  type ScheduledTask,
} from "@unacked/contracts";
import { cronFlaw } from "./cron-flaw.ts";
import type { Hours } from "./hours.ts";
import { isTimeZone } from "./zone.ts";

export type Overlap = (typeof OVERLAPS)[number];
export type CatchUp = (typeof CATCH_UPS)[number];

/** When it is due. */
export type Rhythm = { cron: string; timeZone: string } | { everyMs: number };

export interface Timing {
  rhythm: Rhythm;
  /** ISO 8601. */
  startAt: string | null;
  endAt: string | null;
  jitterMs: number;
}

export interface TaskSchedule {
  timing: Timing;
  overlap: Overlap;
  catchUp: CatchUp;
  catchUpWindowMs: number;
  catchUpMax: number;
  task: ScheduledTask;
}

export interface ObserverSchedule {
  hours: Hours;
  observers: ScheduledObservers;
}

/** A schedule as somebody wants it, with every default said: two that are equal mean the same. It is kept as JSON. */
export type Definition = { description: string | null; keep: number } & (
  | ({ kind: "task" } & TaskSchedule)
  | ({ kind: "observers" } & ObserverSchedule)
);
export type TaskDefinition = Extract<Definition, { kind: "task" }>;

/** Takes a body that its schema has let pass. */
export function definitionOf(given: PutSchedule): Definition {
  const {
    description = null,
    keep = SCHEDULE_DEFAULTS.keep,
    timeZone = SCHEDULE_DEFAULTS.timeZone,
    task,
    observers,
  } = given;
  if (task === undefined && observers !== undefined) {
    const { hours = [], except = [] } = given;
    const wanted = observers.wanted;
    return {
      kind: "observers",
      description,
      keep,
      hours: { hours, except: except.toSorted(), timeZone, wanted },
      observers,
    };
  }
  if (task === undefined) throw new Error("a schedule without a task and without observers");
  const { cron, everyMs, startAt, endAt, jitterMs, overlap, catchUp, catchUpWindowMs, catchUpMax } = given;
  return {
    kind: "task",
    description,
    keep,
    timing: {
      rhythm: cron === undefined ? { everyMs: everyMs as number } : { cron: cron.trim().split(/\s+/).join(" "), timeZone },
      startAt: isoOf(startAt),
      endAt: isoOf(endAt),
      jitterMs: jitterMs ?? SCHEDULE_DEFAULTS.jitterMs,
    },
    overlap: overlap ?? SCHEDULE_DEFAULTS.overlap,
    catchUp: catchUp ?? SCHEDULE_DEFAULTS.catchUp,
    catchUpWindowMs: catchUpWindowMs ?? SCHEDULE_DEFAULTS.catchUpWindowMs,
    catchUpMax: catchUpMax ?? SCHEDULE_DEFAULTS.catchUpMax,
    task,
  };
}

/**
 * Fields of a filter that change as an observer is paused or runs. One that was paused by such a filter would not match when it is to run
 * again.
 */
const PASSING = ["status", "service", "errorGroup", "silent"] as const;

/** All that the schema cannot see. A cron expression beside an unknown time zone is read by the default one. */
export function definitionFlaws({ cron, timeZone, observers }: PutSchedule): FieldProblem[] {
  const flaws: FieldProblem[] = [];
  const isKnown = timeZone === undefined || isTimeZone(timeZone);
  if (!isKnown)
    flaws.push({
      pointer: "/timeZone",
      message: `"${timeZone}" is not known; it must be the name of a time zone, such as Europe/Berlin`,
    });
  const readIn = isKnown ? timeZone : undefined;
  const flaw = cron === undefined ? undefined : cronFlaw(cron, readIn ?? SCHEDULE_DEFAULTS.timeZone);
  if (flaw !== undefined) flaws.push({ pointer: "/cron", message: flaw });
  for (const key of PASSING)
    if (observers?.filter?.[key] !== undefined)
      flaws.push({
        pointer: `/observers/filter/${key}`,
        message:
          "changes when observers are paused and resumed: select them by something that stays, such as labels, type or pool",
      });
  return flaws;
}

const isoOf = (text: string | undefined): string | null => (text === undefined ? null : new Date(text).toISOString());
