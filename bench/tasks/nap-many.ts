import { setTimeout as sleep } from "node:timers/promises";
import { defineTask } from "@unacked/sdk";
import { z } from "zod";
import { NAP_MS } from "../meter/nap-ms.mjs";

/** The same as `nap`, a hundred in one call, as who inserts a hundred rows with one statement. */
export default defineTask({
  type: "nap-many",
  description: `For the benchmark: a hundred take ${NAP_MS} ms together.`,
  params: z.strictObject({ name: z.string() }),
  batch: { size: 100 },
  async runBatch(tasks) {
    await sleep(NAP_MS);
    return tasks.map(({ taskId }) => ({ taskId, output: null }));
  },
});
