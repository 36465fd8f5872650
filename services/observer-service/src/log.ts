import { StandardOutput } from "@unacked/settings";
import { type Logger, pino } from "pino";
import { boundedLine, CENSOR, REDACTED_KEYS } from "./bounded-line.ts";

export type Log = Logger;

const REDACTED = { paths: REDACTED_KEYS.flatMap((key) => [key, `*.${key}`]), censor: CENSOR };

/** One for all logs of the process, so that what has no room yet stays in order, and whole. */
const out = new StandardOutput();

/** Loaded only for a terminal, as that takes a tenth of a service's start (50 ms). */
const pretty = out.isTerminal ? (await import("pino-pretty")).default : undefined;

/**
 * Writes one JSON object a line on standard output, or readable text on a terminal. Written synchronously, so that the last
 * line of a process that ends is not lost. Lines are bounded in length. Neither params nor the broker's URL are ever logged.
 */
export function createLog(level: string, fields: Record<string, unknown> = {}): Log {
  const options = { level, base: fields, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACTED };
  if (pretty !== undefined) return pino(options, pretty({ sync: true, ignore: "service" }));
  return pino(
    { ...options, formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => out.write(boundedLine(line)) },
  );
}
