import type { DataSource } from "typeorm";
import type { LongSnapshot } from "../../../domain/overview/facts.ts";

/**
 * Sessions that keep deleted rows from being cleaned up, by a snapshot or a transaction that has written. Only members of
 * pg_read_all_stats see those of other roles.
 */
const LONG_SNAPSHOTS = `
  SELECT pid, coalesce(usename, '') AS user, coalesce(application_name, '') AS application,
         extract(epoch FROM clock_timestamp() - xact_start)::float8 AS "openForS"
  FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
    AND xact_start < clock_timestamp() - $1::float8 * interval '1 second'
  ORDER BY xact_start LIMIT 5`;

/** Longer than any statement of ours, and than what is over before somebody looks. */
const LONG_S = 120;

export const longSnapshots = (dataSource: DataSource, longS = LONG_S): Promise<LongSnapshot[]> =>
  dataSource.query(LONG_SNAPSHOTS, [longS]);
