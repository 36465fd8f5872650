import { z } from "zod";
import { jsonValue } from "../bounds.ts";
import { Timestamp } from "./timestamp.ts";

const value = z
  .unknown()
  .refine((one): boolean => one !== undefined) // it is always there; for `unknown` alone the document would say that it may be missing
  .describe("any JSON value; null where there is none");

/** What the next run of an observer starts with. */
export const CheckpointView = z
  .object({
    number: z.int().describe("goes up with each that is saved, and starts from 1 again after a reset; 0: there is none"),
    value,
    savedAt: Timestamp.nullable(),
    runId: z.uuid().nullable().describe("the run that has saved it, or was given it; null: somebody has set or reset it"),
    previous: z.object({ number: z.int(), value, savedAt: Timestamp }).nullable().describe("the one before"),
  })
  .meta({ id: "Checkpoint" });
export type CheckpointView = z.infer<typeof CheckpointView>;

/** PUT /observers/{ref}/checkpoint. */
export const PutCheckpoint = z
  .strictObject({
    value: jsonValue.describe("at most 64 KiB as JSON; checked by the type's schema where a live service knows it"),
  })
  .meta({ id: "PutCheckpoint" });
export type PutCheckpoint = z.infer<typeof PutCheckpoint>;
