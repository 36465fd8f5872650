import { z } from "zod";

/** GET /events, `ready`: every change from here on is sent. */
export const ChangesReady = z
  .object({ cursor: z.string().describe("the place in the stream: send it as Last-Event-ID to go on from there") })
  .meta({ id: "ChangesReady" });
export type ChangesReady = z.infer<typeof ChangesReady>;

/** GET /events, `resync`: changes were skipped, so read the lists again. */
export const ChangesResync = z
  .object({
    cursor: z.string().describe("the place in the stream: send it as Last-Event-ID to go on from there"),
    reason: z
      .enum(["unknown-position", "too-far-behind"])
      .describe(
        "`unknown-position`: the place asked for is none, or what has changed there cannot be told · `too-far-behind`: too many changes since",
      ),
  })
  .meta({ id: "ChangesResync" });
export type ChangesResync = z.infer<typeof ChangesResync>;
