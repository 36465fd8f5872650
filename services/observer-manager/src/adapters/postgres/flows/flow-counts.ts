import type { DataSource } from "typeorm";
import type { FlowCounts } from "../../../operations/flows/flow-store.ts";

/** Indexes: flows_running; flow_ends_pkey, which has few entries. */
const RUNNING = "SELECT count(*)::int AS count FROM flows WHERE status = 'Running'";
const ENDS = `
  SELECT count(*)::int AS ends, coalesce(greatest(0, extract(epoch FROM unacked_now() - min(ended_at))), 0)::float8 AS "oldestEndS" FROM flow_ends`;

/** It is read at each scrape of the metrics. */
export async function countFlows(dataSource: DataSource): Promise<FlowCounts> {
  const [[running], [ends]] = await Promise.all([
    dataSource.query<{ count: number }[]>(RUNNING),
    dataSource.query<{ ends: number; oldestEndS: number }[]>(ENDS),
  ]);
  return { running: running?.count ?? 0, ends: ends?.ends ?? 0, oldestEndS: ends?.oldestEndS ?? 0 };
}
