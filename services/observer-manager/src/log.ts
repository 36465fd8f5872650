import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { describeDatabaseError } from "./adapters/postgres/database-error.ts";

/**
 * One JSON object a line on standard output, readable text on a terminal. Errors are logged without the values they carry:
 * TypeORM's hold a statement's parameters, and PostgreSQL's quote them.
 */
export function createLog(level: string, fields: Record<string, unknown>): Logger {
  const options = { level, base: fields, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: withoutValues } };
  if (process.stdout.isTTY) return pino(options, pretty({ sync: true, ignore: "manager" }));
  return pino(
    { ...options, formatters: { level: (label) => ({ level: label }) } },
    pino.destination({ dest: 1, sync: true }),
  );
}

function withoutValues(error: unknown): object {
  const isQuery = typeof error === "object" && error !== null && "driverError" in error;
  if (isQuery) return describeDatabaseError(error).fields;
  return error instanceof Error
    ? { name: error.name, message: error.message, ...codeOf(error) }
    : { message: String(error) };
}

const codeOf = (error: Error) => ("code" in error ? { code: error.code } : {});
