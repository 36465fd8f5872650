import { defineTask } from "@unacked/sdk";
import { z } from "zod";

/** Does nothing, and tells nobody: for the time of observers beside it. */
export default defineTask({
  type: "quiet",
  description: "For the benchmark: is over at once, unseen.",
  params: z.strictObject({ name: z.string() }),
  async run() {
    await Promise.resolve();
  },
});
