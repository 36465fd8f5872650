import type { Readable } from "node:stream";
import { createLineReader, type OutputLine } from "./line-reader.ts";

/** Hands the lines of an output to `onLine`, one after the other, until it ends or is destroyed. */
export async function readLines(
  output: Readable,
  maxLength: number,
  onLine: (line: OutputLine) => Promise<void> | void,
): Promise<void> {
  const reader = createLineReader(maxLength);
  output.setEncoding("utf8");
  try {
    for await (const text of output) {
      for (const line of reader.push(text as string)) await onLine(line);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
  for (const line of reader.rest()) await onLine(line);
}
