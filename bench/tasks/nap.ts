import { setTimeout as sleep } from "node:timers/promises";
import { defineTask } from "@unacked/sdk";
import { z } from "zod";
import { NAP_MS } from "../meter/nap-ms.mjs";

/** Keeps its worker for a moment, and no core. */
export default defineTask({
  type: "nap",
  description: `For the benchmark: takes ${NAP_MS} ms.`,
  params: z.strictObject({ name: z.string() }),
  async run({ signal }) {
    await sleep(NAP_MS, undefined, { signal });
  },
});
