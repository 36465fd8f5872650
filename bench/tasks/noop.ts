import { defineTask } from "@unacked/sdk";
import { z } from "zod";
import { reporter } from "../meter/reporter.mjs";

/** Does nothing, and tells the benchmark that it ran. `tellsName`: which one, too. */
export default defineTask({
  type: "noop",
  description: "For the benchmark: is over at once.",
  params: z.strictObject({ name: z.string(), tellsName: z.boolean().default(false) }),
  async run({ params: { name, tellsName } }) {
    reporter.started(tellsName ? name : undefined);
  },
});
