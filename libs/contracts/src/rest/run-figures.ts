import { z } from "zod";
import { Timestamp } from "./timestamp.ts";

/** Older minutes are not kept. */
export const MAX_RUN_FIGURE_MINUTES = 1_440;

const COUNTS = {
  starts: z.int().describe("handlers that were started: new runs, and later attempts of them"),
  failures: z.int().describe("attempts that failed"),
  interruptions: z
    .int()
    .describe("runs that ended through no fault of their own: their slot or service died, or lost the broker"),
  emits: z.int().describe("values that observers emitted and the broker has, as services told every 5 s"),
};

export const RunCounts = z.object(COUNTS);
export type RunCounts = z.infer<typeof RunCounts>;

/** GET /stats/runs */
export const RunFigures = z
  .object({
    since: Timestamp.describe("when the first of the minutes begins that were asked for"),
    at: Timestamp.describe("now, by the books' clock"),
    items: z
      .array(z.object({ at: Timestamp.describe("when the minute begins"), ...COUNTS }))
      .describe("the oldest first, without minutes in which nothing was"),
    byType: z
      .array(z.object({ type: z.string(), ...COUNTS }))
      .describe("of all these minutes: the 100 types with the most starts"),
    byService: z
      .array(z.object({ service: z.object({ id: z.uuid(), name: z.string().nullable() }), ...COUNTS }))
      .describe("of all these minutes: the 100 boots of services with the most starts"),
  })
  .meta({ id: "RunFigures" });
export type RunFigures = z.infer<typeof RunFigures>;
