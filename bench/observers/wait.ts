import { defineObserver, untilAborted } from "@unacked/sdk";
import { z } from "zod";
import { reporter } from "../meter/reporter.mjs";

/** Does nothing, for ever, and tells the benchmark when it starts and when its signal fires. `tellsName`: which one, too. */
export default defineObserver({
  type: "wait",
  description: "For the benchmark: waits until it is stopped.",
  params: z.strictObject({ tellsName: z.boolean().default(false) }),
  async run({ params, signal, observer }) {
    reporter.started(params.tellsName ? observer.name : undefined);
    await untilAborted(signal);
    reporter.stopped();
  },
});
