import { z } from "zod";
import { timestamp } from "../bounds.ts";
import { DEFAULT_POOL, ObserverId, ObserverName, PoolName, RequestedRunId, TypeName } from "../ids.ts";
import { TaskStatusName } from "../states/task-states.ts";
import { ObserverFilter } from "./observer-filter.ts";
import { conflictFlaw, ON_CONFLICT } from "./tasks.ts";
import { Timestamp } from "./timestamp.ts";

/** What happens if the task of the occurrence before is not over. */
export const OVERLAPS = ["skip", "queue", "cancel-running", "allow"] as const;
/** What happens to occurrences that were missed, as nobody was there for them. */
export const CATCH_UPS = ["none", "latest", "all"] as const;
export const SCHEDULE_STATUSES = ["Active", "Paused", "Over"] as const;
export const ScheduleStatusName = z.enum(SCHEDULE_STATUSES);
export type ScheduleStatusName = z.infer<typeof ScheduleStatusName>;
export const OCCURRENCE_STATUSES = ["started", "skipped", "queued", "missed"] as const;
export const OccurrenceStatusName = z.enum(OCCURRENCE_STATUSES);
export type OccurrenceStatusName = z.infer<typeof OccurrenceStatusName>;
export const OCCURRENCE_CAUSES = ["time", "catch-up", "manual", "backfill"] as const;
/** Why the occurrence did not start. */
export const OCCURRENCE_REASONS = [
  "overlap",
  "superseded",
  "queue-full",
  "key-taken",
  "refused",
  "catch-up-none",
  "catch-up-latest",
  "catch-up-window",
  "catch-up-max",
  "changed",
] as const;
export type OccurrenceReason = (typeof OCCURRENCE_REASONS)[number];
export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
/** What a schedule wants of its observers. */
export const Wanted = z.enum(["running", "paused"]);
export type Wanted = z.infer<typeof Wanted>;

const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;
export const MIN_EVERY_MS = 1_000;
export const MAX_BACKFILL = 1_000;
export const SCHEDULE_DEFAULTS = {
  timeZone: "UTC",
  jitterMs: 0,
  overlap: "skip",
  catchUp: "latest",
  catchUpWindowMs: DAY_MS,
  catchUpMax: 100,
  keep: 100,
} as const;

/** A time of day, by the clock of a zone. */
const TimeOfDay = z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$/, "must be HH:MM, from 00:00 to 24:00");

export const ScheduledHours = z
  .strictObject({
    days: z
      .array(z.enum(WEEKDAYS))
      .min(1)
      .max(7)
      .default([...WEEKDAYS])
      .describe("default: all"),
    from: TimeOfDay.describe("HH:MM, by the clock of `timeZone`"),
    to: TimeOfDay.describe("HH:MM; one that is not after `from` is that of the next day"),
  })
  .refine(({ from, to }) => from !== to, { message: "must differ from `from`", path: ["to"] })
  .meta({ id: "ScheduledHours" });
export type ScheduledHours = z.infer<typeof ScheduledHours>;

export const ScheduledTask = z
  .strictObject({
    type: TypeName,
    params: z.unknown().default({}).describe("any JSON value; checked by the type's schema where a live service knows it"),
    timeParam: z
      .string()
      .min(1)
      .max(128)
      .refine((name) => name !== "__proto__", "is not allowed")
      .optional()
      .describe(
        "the field of `params` that each occurrence writes its time to (ISO 8601, UTC); then they have to be an object",
      ),
    pool: PoolName.default(DEFAULT_POOL),
    priority: z.int().min(-1_000).max(1_000).default(0).describe("the higher goes first"),
    maxAttempts: z.int().min(1).max(1_000).optional().describe("default: that of its type"),
    key: z.string().min(1).max(255).optional().describe("as of a task: where another has it, `onConflict` decides"),
    onConflict: z
      .enum(ON_CONFLICT)
      .default("reject")
      .describe("as of a task, with a `key`; reject: the occurrence is skipped"),
  })
  .refine(({ params, timeParam }) => timeParam === undefined || isObject(params), {
    message: "must be an object, as there is a `timeParam`",
    path: ["params"],
  })
  .meta({ id: "ScheduledTask" });
export type ScheduledTask = z.infer<typeof ScheduledTask>;

/** What is wrong unless exactly one of the keys is given. */
function notOneOf<Key extends string>(keys: readonly Key[], given: { [K in Key]?: unknown }): string | undefined {
  const there = keys.filter((key) => given[key] !== undefined);
  if (there.length === 0) return `needs one of ${inWords(keys)}`;
  return there.length === 1 ? undefined : `only one of ${inWords(keys)} may be given, and there are ${inWords(there)}`;
}

const inWords = (keys: readonly string[]): string => `${keys.slice(0, -1).join(", ")} and ${keys.at(-1)}`;

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

export const ScheduledObservers = z
  .strictObject({
    ids: z.array(ObserverId).min(1).max(1_000).optional(),
    names: z.array(ObserverName).min(1).max(1_000).optional(),
    filter: ObserverFilter.optional().describe("all that match at the time"),
    wanted: Wanted.default("running").describe(
      "in these hours; outside of them the other. running: what is Paused is resumed, and what has Failed stays so",
    ),
  })
  .superRefine((given, context) => {
    const message = notOneOf(["ids", "names", "filter"], given);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .refine(({ filter }) => filter === undefined || Object.values(filter).some((one) => one !== undefined), {
    message: "must say which",
    path: ["filter"],
  })
  .meta({ id: "ScheduledObservers" });
export type ScheduledObservers = z.infer<typeof ScheduledObservers>;

const ONLY_WITH_TASK = [
  "cron",
  "everyMs",
  "startAt",
  "endAt",
  "jitterMs",
  "overlap",
  "catchUp",
  "catchUpWindowMs",
  "catchUpMax",
] as const;
const ONLY_WITH_OBSERVERS = ["hours", "except"] as const;

const FIELDS = {
  description: z.string().max(500).optional(),
  cron: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      "five fields (minute, hour, day, month, weekday), or six with seconds before them; by the clock of `timeZone`",
    ),
  everyMs: z
    .int()
    .min(MIN_EVERY_MS)
    .max(YEAR_MS)
    .optional()
    .describe("instead of `cron`: so often, counted from `startAt`, without it from 1970-01-01T00:00:00Z"),
  hours: z.array(ScheduledHours).min(1).max(50).optional().describe("of `observers`: when they are `wanted` so"),
  except: z
    .array(z.iso.date())
    .max(1_000)
    .optional()
    .describe("days without hours, such as holidays: YYYY-MM-DD, by the clock of `timeZone`"),
  timeZone: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/, "must be the name of a time zone, such as Europe/Berlin")
    .optional()
    .describe(`the IANA name of a time zone; default: ${SCHEDULE_DEFAULTS.timeZone}`),
  startAt: timestamp.optional().describe("ISO 8601: no time before that"),
  endAt: timestamp.optional().describe("ISO 8601: no time from then on"),
  jitterMs: z
    .int()
    .min(0)
    .max(3_600_000)
    .optional()
    .describe("each occurrence starts so much later at most, always the same for one time; default: 0"),
  overlap: z
    .enum(OVERLAPS)
    .optional()
    .describe(
      "while the task of the occurrence before is not over. skip (default) · queue: it starts after it · cancel-running: that one is cancelled, and it starts · allow: side by side",
    ),
  catchUp: z
    .enum(CATCH_UPS)
    .optional()
    .describe(
      "of what is decided more than a minute too late, as nobody was there. none: missed · latest (default): the last one starts, where none is on time · all: each starts that `overlap` lets start; with `skip` that is one alone, what is on time before what is caught up",
    ),
  catchUpWindowMs: z.int().min(1_000).max(YEAR_MS).optional().describe("what is older is missed; default: a day"),
  catchUpMax: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe(`of \`all\`: so many at most, the newest; default: ${SCHEDULE_DEFAULTS.catchUpMax}`),
  keep: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe(`how many occurrences are remembered, a fifth more at times; default: ${SCHEDULE_DEFAULTS.keep}`),
  task: ScheduledTask.optional().describe("what each occurrence creates"),
  observers: ScheduledObservers.optional().describe(
    "instead of `task`: what runs in `hours`, and is paused outside of them",
  ),
};

const PutScheduleShape = z.strictObject(FIELDS);

/** PUT /schedules/{scheduleId}, and POST /schedules/preview. */
export const PutSchedule = PutScheduleShape.superRefine((given, context) => {
  for (const { key, message } of scheduleFlaws(given))
    context.addIssue({ code: "custom", path: key === "" ? [] : key.split("/"), message });
}).meta({ id: "PutSchedule" });
export type PutSchedule = z.infer<typeof PutSchedule>;

/** @returns `key`: its place; "" is the whole */
function scheduleFlaws(given: z.infer<typeof PutScheduleShape>): { key: string; message: string }[] {
  const { task, observers, everyMs, hours, startAt, endAt } = given;
  const notOneThing = notOneOf(["task", "observers"], given);
  if (notOneThing !== undefined) return [{ key: "", message: notOneThing }];
  const isThere = (key: keyof typeof given): boolean => given[key] !== undefined;
  const [others, of] = task === undefined ? [ONLY_WITH_TASK, "a task"] : [ONLY_WITH_OBSERVERS, "observers"];
  const flaws = others.filter(isThere).map((key) => ({ key: key as string, message: `only of ${of}` }));
  const notOneRhythm = task === undefined ? undefined : notOneOf(["cron", "everyMs"], given);
  if (notOneRhythm !== undefined) flaws.push({ key: "", message: notOneRhythm });
  // The task before keeps the key until its handler has ended, so it would be cancelled, and no other created.
  if (given.overlap === "cancel-running" && task?.key !== undefined)
    flaws.push({ key: "overlap", message: "cannot be cancel-running, as its task has a `key`" });
  const noConflict = task === undefined ? undefined : conflictFlaw(task);
  if (noConflict !== undefined) flaws.push({ key: "task/onConflict", message: noConflict });
  if (everyMs !== undefined && given.timeZone !== undefined)
    flaws.push({ key: "timeZone", message: "only of cron and hours" });
  if (observers !== undefined && hours === undefined) flaws.push({ key: "", message: "needs hours, as it has observers" });
  if (startAt !== undefined && endAt !== undefined && Date.parse(endAt) <= Date.parse(startAt))
    flaws.push({ key: "endAt", message: "must be after `startAt`" });
  return flaws;
}

export const OccurrenceView = z
  .object({
    at: Timestamp.describe("its time: with the schedule's id, its key"),
    status: OccurrenceStatusName.describe(
      "started · skipped, missed: for `reason` · queued: it starts when the task before it is over",
    ),
    cause: z
      .enum(OCCURRENCE_CAUSES)
      .describe("time: it was due · catch-up: it was due, and nobody was there · manual, backfill: somebody asked for it"),
    reason: z
      .enum(OCCURRENCE_REASONS)
      .nullable()
      .describe(
        "why it has not started. overlap: the task before it was not over · superseded: a later one was due at once · queue-full · key-taken: another task has the key · refused: the database refuses the task · catch-up-…: it was too late, and `catchUp` says no · changed: the schedule was changed before",
      ),
    taskId: z.guid().nullable().describe("what it has created, or what was in its way"),
    taskStatus: TaskStatusName.nullable().describe("of the task that it has created; null: none, or forgotten"),
    observers: z
      .object({ wanted: Wanted, changed: z.int().describe("how many were paused, or resumed, so far") })
      .nullable()
      .describe("what it wants of observers; null: it is about a task"),
    lateMs: z.int().describe("how much later it was decided, after its time and its jitter"),
    earlierMissed: z
      .int()
      .describe(
        "so many before it were missed, too, and have no row of their own; where they are more than 500, at least so many",
      ),
    by: z.string().nullable().describe("who asked for it; null: nobody, it was due"),
    version: z.int().describe("which of the schedule made it"),
    decidedAt: Timestamp,
  })
  .meta({ id: "Occurrence" });
export type OccurrenceView = z.infer<typeof OccurrenceView>;

export const ScheduleView = z
  .object({
    id: z.string(),
    description: z.string().nullable(),
    status: ScheduleStatusName.describe("Over: `endAt` has passed, or no time is left"),
    cron: z.string().nullable(),
    everyMs: z.int().nullable(),
    hours: z.array(ScheduledHours).nullable(),
    except: z.array(z.iso.date()).nullable(),
    timeZone: z.string(),
    startAt: Timestamp.nullable(),
    endAt: Timestamp.nullable(),
    jitterMs: z.int(),
    overlap: z.enum(OVERLAPS),
    catchUp: z.enum(CATCH_UPS),
    catchUpWindowMs: z.int(),
    catchUpMax: z.int(),
    keep: z.int(),
    task: ScheduledTask.nullable(),
    observers: ScheduledObservers.nullable(),
    version: z.int().describe("counts its changes"),
    nextAt: Timestamp.nullable().describe("its next time; of observers, when they change next"),
    nextDueAt: Timestamp.nullable().describe("the same with its jitter"),
    wantedNow: Wanted.nullable().describe("of observers; null: it has a task, or is Paused"),
    running: z.int().describe("tasks that it has started and that are not over; 0 where they may overlap"),
    queued: z.int(),
    missed: z.int().describe("how many it has missed in all"),
    problem: z.string().nullable().describe("why it cannot go on; it is tried again each minute"),
    lastOccurrence: OccurrenceView.nullable().describe("without `taskStatus`"),
    pausedAt: Timestamp.nullable(),
    pausedBy: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: "Schedule" });
export type ScheduleView = z.infer<typeof ScheduleView>;

export const PutScheduleAnswer = ScheduleView.extend({
  outcome: z
    .enum(["created", "exists", "replaced"])
    .describe("created · exists: there already, with the same content · replaced: it is as this request says now"),
}).meta({ id: "PutScheduleAnswer" });
export type PutScheduleAnswer = z.infer<typeof PutScheduleAnswer>;

/** How far the schedules, and the occurrences, of a filter are counted. */
export const MAX_SCHEDULE_COUNT = 10_000;

export const SchedulePage = z
  .object({
    items: z.array(ScheduleView),
    total: z.int().describe(`all that match the filter, not only this page; counted up to ${MAX_SCHEDULE_COUNT}`),
    isTotalExact: z.boolean().describe("false: there are more than `total`"),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "SchedulePage" });
export type SchedulePage = z.infer<typeof SchedulePage>;

export const OccurrencePage = z
  .object({
    items: z.array(OccurrenceView),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "OccurrencePage" });
export type OccurrencePage = z.infer<typeof OccurrencePage>;

/** The fields that its times are computed from. */
const Expression = {
  cron: z.string().nullable(),
  everyMs: z.int().nullable(),
  hours: z.array(ScheduledHours).nullable(),
  timeZone: z.string(),
  version: z.int().nullable().describe("of the schedule; null: it is not one yet"),
};

export const ScheduleTimes = z
  .object({
    ...Expression,
    times: z.array(
      z.object({
        at: Timestamp,
        local: z.string().describe("the same by the clock of `timeZone`, with its offset"),
        dueAt: Timestamp.describe("with its jitter, which depends on the schedule's id"),
        wanted: Wanted.nullable().describe("of observers: from then on"),
      }),
    ),
  })
  .meta({ id: "ScheduleTimes" });
export type ScheduleTimes = z.infer<typeof ScheduleTimes>;

/** POST /schedules/{scheduleId}/run */
export const RunSchedule = z
  .strictObject({
    id: RequestedRunId.optional().describe(
      "chosen by the client: makes the request safe to repeat, while the occurrence is remembered, which is for a day at least",
    ),
    overlap: z.enum(OVERLAPS).optional().describe("default: that of the schedule"),
  })
  .meta({ id: "RunSchedule" });
export type RunSchedule = z.infer<typeof RunSchedule>;

/** POST /schedules/{scheduleId}/backfill */
export const BackfillSchedule = z
  .strictObject({
    from: timestamp.describe("ISO 8601; this time is included"),
    to: timestamp.describe("ISO 8601; this time is not included, nor are times that are not due yet"),
    overlap: z
      .enum(["queue", "allow"])
      .optional()
      .describe(
        "default: queue, one after the other, beside the times that come meanwhile; of a schedule with `allow` that",
      ),
    dryRun: z.boolean().default(false).describe("answers as if, and changes nothing"),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { message: "must be after `from`", path: ["to"] })
  .meta({ id: "BackfillSchedule" });
export type BackfillSchedule = z.infer<typeof BackfillSchedule>;

export const BackfillAnswer = z
  .object({
    ...Expression,
    times: z.int().describe(`of this expression in the window, at most ${MAX_BACKFILL}`),
    started: z.int(),
    queued: z.int(),
    skipped: z.int().describe("for a reason that stands with the occurrence"),
    alreadyStarted: z.int().describe("as they had started, or are queued: nothing is done about them"),
  })
  .meta({ id: "BackfillAnswer" });
export type BackfillAnswer = z.infer<typeof BackfillAnswer>;
