import { StandardOutput } from "@unacked/settings";
import { type Logger, pino } from "pino";
import { describeDatabaseError } from "./adapters/postgres/connection/database-error.ts";

/** Of an observer or a request that is logged whole, these may hold what nobody else should read. */
const REDACTED = { paths: ["params", "*.params", "authorization", "*.authorization"], censor: "(not logged)" };

const out = new StandardOutput();

/** Only for a terminal: loading it takes 50 ms of a start. */
const pretty = out.isTerminal ? (await import("pino-pretty")).default : undefined;

/**
 * One JSON object a line on standard output, readable text on a terminal. Errors are logged without the values they carry:
 * TypeORM's hold a statement's parameters, and PostgreSQL's quote them.
 */
export function createLog(level: string, fields: Record<string, unknown>): Logger {
  const time = pino.stdTimeFunctions.isoTime;
  const options = { level, base: fields, timestamp: time, redact: REDACTED, serializers: { err: withoutValues } };
  if (pretty !== undefined) return pino(options, pretty({ sync: true, ignore: "manager" }));
  return pino({ ...options, formatters: { level: (label) => ({ level: label }) } }, { write: (line) => out.write(line) });
}

/** As it stands in the log. A bug of ours says where it is, too: loops try again each second, and nobody could tell what. */
export function withoutValues(error: unknown): object {
  const isQuery = typeof error === "object" && error !== null && "driverError" in error;
  if (isQuery) return describeDatabaseError(error).fields;
  return error instanceof Error
    ? { name: error.name, message: error.message, ...codeOf(error), ...framesOf(error) }
    : { message: String(error) };
}

const codeOf = (error: Error) => ("code" in error ? { code: error.code } : {});

/** Of JavaScript itself. The message stands in the log as it is, the frames without it. */
const BUGS: ReadonlySet<string> = new Set(["TypeError", "RangeError", "ReferenceError"]);
const framesOf = (error: Error) =>
  BUGS.has(error.name) && error.stack ? { stack: error.stack.match(/^ +at .*$/gm)?.join("\n") } : {};
