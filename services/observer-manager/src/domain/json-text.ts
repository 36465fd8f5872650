import { isNestedDeeper } from "@unacked/contracts";

/** JSON.parse takes any depth, JSON.stringify gives up at some four thousand levels: one such value would cost every answer that shows it. */
const MAX_LEVELS = 1_000;

/**
 * What was told as JSON in a text: a result, a checkpoint, a line. Whoever may write a queue that managers read, and an author's code that
 * writes to its slot's pipe, may have written anything: what is no JSON, or nested too deeply to be answered, is shown as the text that it is.
 */
export function fromJsonText(text: string): unknown {
  if (text.length > MAX_LEVELS && isNestedDeeper(Buffer.from(text), MAX_LEVELS)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
