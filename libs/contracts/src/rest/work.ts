import { z } from "zod";
import { WorkId } from "../ids.ts";
import { Role } from "./access.ts";
import { saysWhich } from "./bulk.ts";
import { ObserverFilter } from "./observer-filter.ts";
import { WhenFull, whenFull } from "./observers.ts";

export const WORK_ACTS = ["stop", "restart", "pause", "resume"] as const;
export type WorkAct = (typeof WORK_ACTS)[number];

export const WORK_STATUSES = ["Running", "Done", "Cancelled"] as const;
export const WorkStatusName = z.enum(WORK_STATUSES);
export type WorkStatusName = z.infer<typeof WorkStatusName>;

/** How far works are counted for a list. */
export const MAX_WORK_COUNT = 10_000;
/** How many of those that were refused for one reason are named. */
export const MAX_WORK_NAMES = 5;

/** POST /work */
export const BeginWork = z
  .strictObject({
    id: WorkId.optional().describe("chosen by the client: makes the request safe to repeat"),
    of: z.literal("observers").default("observers"),
    act: z.enum(WORK_ACTS),
    filter: ObserverFilter.optional().describe("as in GET /observers; without `status`: all that are not Deleted"),
    all: z.boolean().default(false).describe("needed where no filter says which: every observer that is not Deleted"),
    force: z.boolean().default(false).describe("of a stop: also what has not started, or what nobody answers for"),
    whenFull,
  })
  .superRefine(({ filter, all }, context) => {
    if (saysWhich(filter) === all)
      context.addIssue({
        code: "custom",
        path: ["all"],
        message: all ? "not together with a filter that says which" : "must be true where no filter says which",
      });
  })
  .meta({ id: "BeginWork" });
export type BeginWork = z.infer<typeof BeginWork>;

const refusal = z.object({
  code: z.string().describe("of the catalogue of problems"),
  title: z.string(),
  remedy: z.string(),
  count: z.int(),
  names: z.array(z.string()).describe(`the first ${MAX_WORK_NAMES} of them`),
});

export const WorkView = z
  .object({
    id: z.uuid(),
    of: z.literal("observers"),
    act: z.enum(WORK_ACTS),
    filter: ObserverFilter,
    all: z.boolean(),
    force: z.boolean(),
    whenFull: WhenFull,
    status: WorkStatusName,
    begunBy: z.object({ name: z.string(), role: Role }),
    begunAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    cancelledBy: z.string().nullable(),
    total: z.int().describe("how many matched when it began; more, if more were met"),
    done: z.int().describe("of how many it was accepted: what comes of it shows in the list"),
    failed: z.int().describe("how many were refused"),
    remaining: z.int().describe("how many may be left"),
    leftAlone: z
      .int()
      .describe("how many did not match any more when their turn came, or were not reached; known at its end"),
    msLeft: z.int().nullable().describe("how long it may still take; null: nobody can say yet, or it is over"),
    waitsFor: z
      .string()
      .nullable()
      .describe(
        "why no step of it is done now: its last one failed, or not all managers can; null: steps are done, or it is over",
      ),
    refused: z.array(refusal).describe("why, the most frequent first"),
  })
  .meta({ id: "Work" });
export type WorkView = z.infer<typeof WorkView>;

/** GET /work. The newest first. */
export const WorkPage = z
  .object({
    items: z.array(WorkView),
    total: z.int().describe(`all that match, not only this page; up to ${MAX_WORK_COUNT}`),
    isTotalExact: z.boolean(),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "WorkPage" });
export type WorkPage = z.infer<typeof WorkPage>;
