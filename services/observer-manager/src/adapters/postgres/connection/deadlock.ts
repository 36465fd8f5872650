import { sqlStateOf } from "./database-error.ts";

/**
 * Of two transactions that wait for each other's locks PostgreSQL ends one (13.3.4 of its manual), and nothing of it stands: that one is done once
 * more, from its beginning, when the other has gone on.
 */
export async function againAfterDeadlock<Result>(write: () => Promise<Result>): Promise<Result> {
  return await write().catch((error: unknown) => (sqlStateOf(error) === "40P01" ? write() : Promise.reject(error)));
}
