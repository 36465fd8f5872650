import type { Logger } from "typeorm";
import type { Log } from "../../../operations/log.ts";
import { describeDatabaseError } from "./database-error.ts";

const MAX_LOGGED_SQL_LENGTH = 300;

/** TypeORM's log without a single parameter: our SQL is constant text, so the statement can be shown and its values not. */
export function typeormLog(log: Log): Logger {
  const nothing = () => undefined;
  return {
    logQuery: nothing,
    logSchemaBuild: nothing,
    // A failure is thrown to the caller, who knows whether it matters; here it would be told twice.
    logQueryError: nothing,
    logQuerySlow: (timeMs: number, query: string) =>
      log.warn({ timeMs, sql: query.slice(0, MAX_LOGGED_SQL_LENGTH) }, "A database statement was slow"),
    logMigration: (message: string) => log.info({ message }, "Migration"),
    log: (level, message: unknown) => {
      if (level === "warn") log.warn({ message: String(message) }, "TypeORM warns");
    },
  };
}

/** An idle connection broke: the pool has already thrown it away and makes a new one at the next query. */
export function logIdleConnectionLost(log: Log): (error: unknown) => void {
  return (error) => log.warn(describeDatabaseError(error).fields, "An idle database connection was lost");
}
