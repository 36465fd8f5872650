import { type Logger, pino } from "pino";

export type Log = Logger;

/** Of a start, or of what an observer was given, that is logged whole, these may hold what nobody else should read. */
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

/** Of one line of the log, in characters: what collectors of logs commonly take whole. */
const MAX_LINE = 65_536;
/** Of one of its fields, where the line is longer. */
const MAX_PART = 8_192;

/**
 * A line of the log as it may be written: one that is too long has its long fields cut (as text, where they were more) and says
 * by `cutFrom` how long it was. Observers may log whatever they like; one of them must not fill the disk that all share.
 */
export function boundedLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  const parts = Object.entries(JSON.parse(line) as Record<string, unknown>).map(([name, value]) => [name, cut(value)]);
  return `${JSON.stringify({ ...Object.fromEntries(parts), cutFrom: line.length })}\n`;
}

function cut(value: unknown): unknown {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_PART ? `${text.slice(0, MAX_PART - 1)}…` : value;
}
