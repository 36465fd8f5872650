import { defineTask } from "@unacked/sdk";
import { z } from "zod";

/** A part of the demonstration's flow. */
export default defineTask({
  type: "demo-words",
  description: "Counts the words of a text.",
  params: z.strictObject({ text: z.string().max(65_536).describe("The text, in words with blanks between them.") }),
  output: z.object({ words: z.int() }),
  async run({ params: { text }, log }) {
    const words = text.split(/\s+/).filter((word) => word !== "").length;
    log.info("counted", { words });
    return { words };
  },
});
