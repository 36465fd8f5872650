import type { Readable } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import { createLineReader, type OutputLine } from "./line-reader.ts";

/** Read in one go; then everybody else in the process has a turn. */
const LINES_A_SLICE = 200;

/** How fast lines are taken: a command that prints faster waits for its full pipe. */
export interface Pace {
  /** As many every `everyMs`. */
  readonly lines: number;
  readonly everyMs: number;
  /** Aborted: what is left is read without a pause. */
  readonly until: AbortSignal;
}

/** How far a reading is. */
export interface Reading {
  /** The lines of all that it was given have been handed on. */
  isIdle: boolean;
}

export interface LineHandling {
  /** Default: as fast as `onLine`. */
  readonly pace?: Pace;
  /** Told how far it is. */
  readonly reading?: Reading;
  /** What stood behind the last line end. Default: a line like the others. */
  readonly onRest?: (line: OutputLine) => Promise<void> | void;
}

/** Hands the lines of an output to `onLine`, one after the other, until it ends or is destroyed. */
export async function readLines(
  output: Readable,
  maxLength: number,
  onLine: (line: OutputLine) => Promise<void> | void,
  { pace, reading = { isIdle: true }, onRest = onLine }: LineHandling = {},
): Promise<void> {
  const reader = createLineReader(maxLength);
  const pause = pauses(pace);
  output.setEncoding("utf8");
  try {
    for await (const text of output) {
      reading.isIdle = false;
      for (const line of reader.push(text as string)) {
        await onLine(line);
        await pause();
      }
      reading.isIdle = true;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
  for (const line of reader.rest()) await onRest(line);
}

/** To be awaited after each line. */
export function pauses(pace: Pace | undefined): () => Promise<void> | undefined {
  let lines = 0;
  let sinceMs = performance.now();
  return () => {
    lines += 1;
    const isTooFast = pace !== undefined && !pace.until.aborted && lines >= pace.lines;
    if (!isTooFast) return lines % LINES_A_SLICE === 0 ? setImmediate() : undefined;
    const nowMs = performance.now();
    const leftMs = Math.max(0, sinceMs + pace.everyMs - nowMs);
    sinceMs = nowMs + leftMs;
    lines = 0;
    return setTimeout(leftMs, undefined, { signal: pace.until }).catch(() => undefined); // woken: it reads on
  };
}
