import { defineTask } from "@unacked/sdk";
import { z } from "zod";
import { reporter } from "../meter/reporter.mjs";

/** The same as `noop`, a hundred in one call. */
export default defineTask({
  type: "noop-many",
  description: "For the benchmark: a hundred are over at once.",
  params: z.strictObject({ name: z.string() }),
  batch: { size: 100 },
  async runBatch(tasks) {
    return tasks.map(({ taskId }) => {
      reporter.started();
      return { taskId, output: null };
    });
  },
});
