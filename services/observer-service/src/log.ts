import { type Logger, pino } from "pino";
import { boundedLine } from "./bounded-line.ts";

export type Log = Logger;

/** Whoever logs a whole start, or an observer all that it was given: these may hold what nobody else should read. */
const REDACTED_KEYS = ["params", "authorization"];
const CENSOR = "(not logged)";
const REDACTED = { paths: REDACTED_KEYS.flatMap((key) => [key, `*.${key}`]), censor: CENSOR };

/** For `JSON.stringify`: the same for what is kept of a line beside the log, at any depth. */
export const redacted = (key: string, value: unknown): unknown => (REDACTED_KEYS.includes(key) ? CENSOR : value);

/** Only for a terminal: loading it takes a tenth of a service's start (50 ms). */
const pretty = process.stdout.isTTY ? (await import("pino-pretty")).default : undefined;

/**
 * One JSON object a line on standard output, readable text on a terminal. Written synchronously, so that the last line of
 * a process that ends is not lost. A line has a largest length. Neither params nor the broker's URL are ever logged.
 */
export function createLog(level: string, fields: Record<string, unknown> = {}): Log {
  const options = { level, base: fields, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACTED };
  if (pretty !== undefined) return pino(options, pretty({ sync: true, ignore: "service" }));
  const out = pino.destination({ dest: 1, sync: true });
  return pino(
    { ...options, formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => void out.write(boundedLine(line)) },
  );
}
