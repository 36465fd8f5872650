import { z } from "zod";
import { RunEndReason } from "../states/states.ts";
import { ADDED_LATER } from "./added-later.ts";
import { Timestamp } from "./timestamp.ts";
import { Stack } from "./withheld.ts";

/** An error of a handler, as the database keeps it. */
export const RunError = z.object({ name: z.string(), message: z.string(), stack: Stack });

export const RunView = z
  .object({
    id: z.uuid(),
    observerId: z.uuid(),
    service: z.object({ id: z.uuid(), name: z.string().nullable().describe("null: the books never met it") }),
    runNumber: z.int().describe("counts up with each run of the observer").register(ADDED_LATER, { of: "epoch" }),
    epoch: z.int().describe("the same as runNumber, by its name of 0.1.0").meta({ deprecated: true }),
    fencingToken: z
      .int()
      .nullable()
      .describe("its `ctx.fencingToken`; null: its type starts without asking")
      .register(ADDED_LATER, { means: null }),
    revision: z.int(),
    specVersion: z
      .int()
      .nullable()
      .describe("the version of the observer's spec that its message was made of; null: its service did not say it")
      .register(ADDED_LATER, { means: null }),
    generation: z.int().describe("which connection of its service delivered it"),
    state: z
      .enum(["Requested", "Current", "Superseded", "Ended"])
      .describe("`Requested`: its handler has not begun, it waits for the manager's admission"),
    startedAt: Timestamp,
    endedAt: Timestamp.nullable(),
    endReason: RunEndReason.nullable(),
    error: RunError.nullable(),
    interruption: z
      .string()
      .nullable()
      .describe("of a run that began again through no fault of its own: what ended it, and who did that, if it is known")
      .register(ADDED_LATER, { means: null }),
  })
  .meta({ id: "Run" });
export type RunView = z.infer<typeof RunView>;

export const RunList = z.object({ items: z.array(RunView), total: z.int() }).meta({ id: "RunList" });
export type RunList = z.infer<typeof RunList>;
