import { expect } from "vitest";
import { eventually } from "../eventually.ts";

/** Of this database alone: the server is every file's. */
export const WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** Until so many, or more, wait for a lock. */
export const untilWait = (on: { query(sql: string): Promise<unknown[]> }, count = 1): Promise<void> =>
  eventually(async () => expect((await on.query(WAITING)).length).toBeGreaterThanOrEqual(count), {
    what: `${count} that wait for a lock`,
  });
