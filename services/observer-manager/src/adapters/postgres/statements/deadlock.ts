import { setTimeout as delay } from "node:timers/promises";
import { sqlStateOf } from "../connection/database-error.ts";

const MOST_TIMES = 4;
const MOST_PAUSE_MS = 50;

/**
 * If two transactions wait for each other's locks, PostgreSQL ends one (13.3.4 of its manual), and nothing of it stands: that one is done
 * again from its beginning. A random pause keeps two of them from meeting each time.
 */
export async function againAfterDeadlock<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let time = 1; ; time += 1) {
    try {
      return await write();
    } catch (error) {
      if (sqlStateOf(error) !== "40P01" || time === MOST_TIMES) throw error;
      await delay(Math.random() * MOST_PAUSE_MS);
    }
  }
}
