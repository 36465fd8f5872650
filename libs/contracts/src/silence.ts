import { z } from "zod";
import { MAX_INT4 } from "./bounds.ts";

const limitMs = z.int().min(1_000).max(MAX_INT4).optional();

const shape = {
  warnAfterMs: limitMs.describe("without a beat for so long it is marked as silent, and warned of"),
  restartAfterMs: limitMs.describe("without one for so long its attempt fails, and its retry policy answers"),
};

/**
 * How long a handler may neither emit nor say `ctx.alive()`. Time in which one of its emits waits for the broker does not count,
 * nor does time in which the broker takes nothing.
 */
export const Silence = z
  .strictObject(shape)
  .refine(
    ({ warnAfterMs = 0, restartAfterMs = MAX_INT4 }) => warnAfterMs <= restartAfterMs,
    "restartAfterMs is less than warnAfterMs: it would be restarted before anybody is warned",
  )
  .meta({ id: "Silence" });
export type Silence = z.infer<typeof Silence>;

/** The limits as they are sent: a later version may add fields. */
export const ToldSilence = z.object(shape);
