import { type Logger, pino } from "pino";
import { boundedLine, CENSOR, REDACTED_KEYS } from "./bounded-line.ts";

export type Log = Logger;

const REDACTED = { paths: REDACTED_KEYS.flatMap((key) => [key, `*.${key}`]), censor: CENSOR };

/** Only for a terminal: loading it takes a tenth of a service's start (50 ms). */
const pretty = process.stdout.isTTY ? (await import("pino-pretty")).default : undefined;

/** Of what cannot be written, in bytes: it is written when there is room again. */
const MAX_KEPT = 1_048_576;

/**
 * One JSON object a line on standard output, readable text on a terminal. Written synchronously, so that the last line of
 * a process that ends is not lost. A line has a largest length. Neither params nor the broker's URL are ever logged.
 */
export function createLog(level: string, fields: Record<string, unknown> = {}): Log {
  const options = { level, base: fields, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACTED };
  if (pretty !== undefined) return pino(options, pretty({ sync: true, ignore: "service" }));
  const out = outlivingDisk();
  return pino(
    { ...options, formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => void out.write(boundedLine(line)) },
  );
}

/**
 * Standard output may be a file on a disk that is full: a log that threw then would end what it tells of, and a fence or a drain
 * would stop at its line. What has no room is tried again with each line that follows, of which none is kept beyond a limit.
 */
function outlivingDisk() {
  // Below a `minLength` of 1, flush() does nothing.
  const out = pino.destination({ dest: 1, sync: true, minLength: 1, maxLength: MAX_KEPT });
  out.on("error", () => undefined);
  out.on("drop", () => out.flush());
  return out;
}
