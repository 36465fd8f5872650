import { defineTask } from "@unacked/sdk";
import { z } from "zod";

/** Whatever it comes after; here, what counts words. */
const Counted = z.object({ words: z.int() });

/** The end of the demonstration's flow. */
export default defineTask({
  type: "demo-sum",
  description: "Adds up what the tasks that it comes after have counted.",
  params: z.strictObject({}),
  output: z.object({ words: z.int(), texts: z.int() }),
  async run({ inputs }) {
    const counts = Object.values(inputs).map((input) => Counted.parse(input).words);
    return { words: counts.reduce((sum, count) => sum + count, 0), texts: counts.length };
  },
});
