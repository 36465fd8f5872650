import { z } from "zod";
import { Timestamp } from "./timestamp.ts";

export const FIGURE_SPANS = ["minute", "hour"] as const;

/** How many minutes and hours are shown at most; older ones are not kept. */
export const MAX_FIGURES = { minute: 2_880, hour: 720 } as const;

const ms = () => z.number().nullable();
const load = () => z.number().nullable();

const COUNTS = {
  created: z.int().describe("tasks that were accepted"),
  completed: z.int().describe("attempts that completed their task"),
  failed: z.int().describe("tasks that were given up"),
  cancelled: z.int(),
  retried: z.int().describe("attempts that failed and are made again, and tasks that were over and run again"),
  meanMs: ms().describe("how long an attempt ran that completed or failed, in ms; null: there was none"),
  p95Ms: ms().describe("95 of 100 of these ran at most so long; told from counts by buckets, and so at most 19 % off"),
};

/** GET /task-types/{taskType}/figures */
export const TaskFigures = z
  .object({
    type: z.string(),
    by: z.enum(FIGURE_SPANS),
    items: z
      .array(z.object({ at: Timestamp.describe("when the minute or hour begins"), ...COUNTS }))
      .describe("the oldest first, without those in which nothing was"),
  })
  .meta({ id: "TaskFigures" });
export type TaskFigures = z.infer<typeof TaskFigures>;

export const TaskTypeFigures = z
  .object({
    type: z.string(),
    waiting: z.int().describe("due and not running: Ready or Sent; of each pool up to 10,000 Ready ones are counted"),
    isWaitingExact: z.boolean().describe("false: there are more than `waiting`"),
    running: z.int(),
    oldestDueAt: Timestamp.nullable().describe("since when the one that waits longest has been due; null: none waits"),
    workers: z.int().describe("task workers of living services, not draining, that have the type"),
    loadPercent: load().describe(
      "the work that arrives in per cent of what can be done, as if the type had all its workers for itself: above 100 what waits grows. A task arrives as it is created, also where it is due later or waits for others of its flow, and again with each retry; not when it puts itself off. Null: nobody can say, as none has run lately, no worker has it, or it is paused",
    ),
    lately: z.object({ since: Timestamp, ...COUNTS }).describe("of the minute before and this one, or of the last hour"),
    bars: z
      .array(z.object({ at: Timestamp, completed: z.int(), failed: z.int() }))
      .describe("the last 60 minutes, or 48 hours, the oldest first"),
  })
  .meta({ id: "TaskTypeFigures" });
export type TaskTypeFigures = z.infer<typeof TaskTypeFigures>;

/** GET /task-figures */
export const TaskFiguresNow = z
  .object({
    by: z.enum(FIGURE_SPANS),
    at: Timestamp,
    items: z
      .array(TaskTypeFigures)
      .describe("types that services have, that are limited, wait, run, or ran in the time of the bars"),
    pools: z.array(
      z.object({
        pool: z.string(),
        workers: z.int(),
        loadPercent: load().describe("the work of all its types in per cent of what its workers can do; null: it has none"),
      }),
    ),
  })
  .meta({ id: "TaskFiguresNow" });
export type TaskFiguresNow = z.infer<typeof TaskFiguresNow>;
