import { type Logger, pino } from "pino";
import { describeDatabaseError } from "./adapters/postgres/connection/database-error.ts";

/** Of an observer or a request that is logged whole, these may hold what nobody else should read. */
const REDACTED = { paths: ["params", "*.params", "authorization", "*.authorization"], censor: "(not logged)" };

/** Only for a terminal: loading it takes 50 ms of a start. */
const pretty = process.stdout.isTTY ? (await import("pino-pretty")).default : undefined;

/** Of what cannot be written, in bytes: it is written when there is room again. More than any line has, as one that is longer is left out. */
const MAX_KEPT = 16_777_216;

/**
 * One JSON object a line on standard output, readable text on a terminal. Errors are logged without the values they carry:
 * TypeORM's hold a statement's parameters, and PostgreSQL's quote them.
 */
export function createLog(level: string, fields: Record<string, unknown>): Logger {
  const time = pino.stdTimeFunctions.isoTime;
  const options = { level, base: fields, timestamp: time, redact: REDACTED, serializers: { err: withoutValues } };
  if (pretty !== undefined) return pino(options, pretty({ sync: true, ignore: "manager" }));
  const out = outlivingDisk();
  return pino(
    { ...options, formatters: { level: (label) => ({ level: label }) } },
    // Not `out` itself: after a fatal line pino flushes it, which waits until there is room.
    { write: (line) => void out.write(line) },
  );
}

/**
 * Standard output may be a file on a disk that is full: a log that threw then would end what it tells of. What has no room is
 * tried again with each line that follows, of which none is kept beyond a limit.
 */
function outlivingDisk() {
  // Below a `minLength` of 1, flush() does nothing.
  const out = pino.destination({ dest: 1, sync: true, minLength: 1, maxLength: MAX_KEPT });
  out.on("error", () => undefined);
  out.on("drop", () => out.flush());
  return out;
}

function withoutValues(error: unknown): object {
  const isQuery = typeof error === "object" && error !== null && "driverError" in error;
  if (isQuery) return describeDatabaseError(error).fields;
  return error instanceof Error
    ? { name: error.name, message: error.message, ...codeOf(error) }
    : { message: String(error) };
}

const codeOf = (error: Error) => ("code" in error ? { code: error.code } : {});
