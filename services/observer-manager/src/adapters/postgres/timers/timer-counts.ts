import type { DataSource } from "typeorm";
import type { UnheardTimers } from "../../../domain/overview/facts.ts";
import type { TimerCounts } from "../../../operations/timers/timer-store.ts";
import { LIVE_TIMERS } from "./timer-view.ts";

/** Reads all that are not over. */
const BY_STATUS = `
  SELECT status, count(*)::int AS count,
         coalesce(extract(epoch FROM unacked_now() - min(due_at) FILTER (WHERE returns = 0)), 0)::float8 AS "oldestDueS"
  FROM ${LIVE_TIMERS} GROUP BY status`;

/** Index: timers_again. It looks at 10,000 timers at most, and tells ten names. */
const UNHEARD = `
  SELECT name, count(*)::int AS count, bool_or(last_problem <> 'returned') AS "isRefused", min(due_at) AS since
  FROM (SELECT name, last_problem, due_at FROM timers WHERE returns > 0 LIMIT 10000) t GROUP BY name ORDER BY 2 DESC, 1 LIMIT 10`;

/** It is read at each scrape of the metrics. */
export async function countTimers(dataSource: DataSource): Promise<TimerCounts> {
  const byStatus = await dataSource.query<{ status: string; count: number; oldestDueS: number }[]>(BY_STATUS);
  return { byStatus, oldestDueS: Math.max(0, ...byStatus.map(({ oldestDueS }) => oldestDueS)) };
}

export const unheardTimers = (dataSource: DataSource): Promise<UnheardTimers[]> => dataSource.query(UNHEARD);
