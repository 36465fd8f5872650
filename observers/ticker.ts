import { defineObserver, sleep } from "@unacked/sdk";
import { z } from "zod";

/** Emits `{ n, at }` every `everyMs`, the first after one `everyMs`: `n` counts from 1 within a run, `at` is the time as ISO 8601. */
export default defineObserver({
  type: "ticker",
  description:
    "Emits a counter at a steady pace, the first after one interval: the smallest observer, to see that things move.",
  params: z.strictObject({
    everyMs: z
      .int()
      .min(10)
      .max(86_400_000)
      .default(1_000)
      .describe("Milliseconds from one event to the next, 10 to 86,400,000 (a day)."),
  }),
  async run({ params, signal, emit }) {
    // Counted from the start, so that the pace does not drift by what an event costs.
    const startMs = performance.now();
    for (let n = 1; ; n++) {
      const dueMs = startMs + n * params.everyMs;
      if (!(await sleep(Math.max(0, dueMs - performance.now()), signal))) return;
      await emit({ n, at: new Date().toISOString() });
    }
  },
});
