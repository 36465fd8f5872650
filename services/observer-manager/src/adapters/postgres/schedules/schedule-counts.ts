import type { DataSource } from "typeorm";
import type { ScheduleCounts } from "../../../operations/schedules/schedule-store.ts";

/**
 * Reads all of `schedules`. Those of observers are looked at again and again, so they are late only if their change is. One that nobody can
 * decide about is put off again and again: it is late since its own time.
 */
const BY_STATUS = `
  SELECT CASE WHEN paused_at IS NOT NULL THEN 'Paused' WHEN due_at IS NULL THEN 'Over' ELSE 'Active' END AS status,
         count(*)::int AS count,
         coalesce(extract(epoch FROM unacked_now() - min(
           CASE WHEN problem IS NULL THEN greatest(due_at, next_at) ELSE least(due_at, next_at) END) FILTER (WHERE due_at IS NOT NULL)), 0)::float8 AS "oldestDueS"
  FROM schedules GROUP BY 1`;

/** It is read at each scrape of the metrics. */
export async function countSchedules(dataSource: DataSource): Promise<ScheduleCounts> {
  type Row = ScheduleCounts["byStatus"][number] & { oldestDueS: number };
  const byStatus = await dataSource.query<Row[]>(BY_STATUS);
  return { byStatus, oldestDueS: Math.max(0, ...byStatus.map(({ oldestDueS }) => oldestDueS)) };
}
