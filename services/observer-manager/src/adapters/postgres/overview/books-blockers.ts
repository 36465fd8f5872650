import type { DataSource } from "typeorm";
import type { BooksBlocker } from "../../../domain/overview/facts.ts";

/**
 * Who holds what the managers wait for; of a chain of them, its first. `pg_blocking_pids` answers 0 for a prepared transaction. Only
 * members of pg_read_all_stats see when a transaction of another role began; the others are told how long it has been waited for.
 */
const BLOCKERS = `
  WITH waiting AS MATERIALIZED (
    SELECT pid, query_start, unnest(pg_blocking_pids(pid)) AS blocker FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND wait_event_type = 'Lock')
  SELECT w.blocker AS pid, coalesce(b.usename, '') AS user,
         coalesce(nullif(b.application_name, ''), nullif(b.backend_type, 'client backend'), '') AS application,
         max(extract(epoch FROM clock_timestamp() - coalesce(b.xact_start, w.query_start)))::float8 AS "openForS",
         count(DISTINCT w.pid)::int AS waiting
  FROM waiting w LEFT JOIN pg_stat_activity b ON b.pid = w.blocker
  WHERE NOT EXISTS (SELECT FROM waiting other WHERE other.pid = w.blocker)
  GROUP BY 1, 2, 3 HAVING min(coalesce(b.xact_start, w.query_start)) < clock_timestamp() - $1::float8 * interval '1 second'
  ORDER BY 4 DESC LIMIT 5`;

/** Longer than any transaction of ours. */
const LONG_S = 3;

export const booksBlockers = (dataSource: DataSource, longS = LONG_S): Promise<BooksBlocker[]> =>
  dataSource.query(BLOCKERS, [longS]);
