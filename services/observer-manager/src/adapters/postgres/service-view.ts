import type { ServiceView } from "@unacked/contracts";
import type { DrainState } from "../../domain/books.ts";
import { isoOf } from "./observer-view.ts";

/**
 * Everything a ServiceView shows, of `services s`. `running` is what the books place there, not what the service last said: it
 * is right at once, and agrees with the list of observers. Index: observers_on_service.
 */
export const SERVICE_COLUMNS = `
  s.id, s.name, s.pool, s.state, s.drain, s.worker_count, s.running AS reported_running,
  (SELECT count(*)::int FROM observers o WHERE o.current_service_id = s.id) AS running,
  (SELECT coalesce(jsonb_agg(t ->> 'type' ORDER BY t ->> 'type'), '[]') FROM jsonb_array_elements(s.types) t) AS types,
  s.version, s.host, s.pid, s.generation, s.heartbeat_ms, s.memory_bytes, s.event_loop_lag_ms, s.started_at, s.last_seen_at,
  s.ended_at, s.end_reason, s.broker_loss`;

/** One row of SERVICE_COLUMNS. */
export interface ServiceRow {
  id: string;
  name: string;
  pool: string;
  state: ServiceView["state"];
  drain: DrainState;
  worker_count: number;
  reported_running: number;
  running: number;
  types: string[];
  version: string;
  host: string;
  pid: number;
  generation: number;
  heartbeat_ms: number;
  memory_bytes: string;
  event_loop_lag_ms: number;
  started_at: Date;
  last_seen_at: Date;
  ended_at: Date | null;
  end_reason: string | null;
  broker_loss: ServiceView["brokerLoss"];
}

export function toServiceView(row: ServiceRow): ServiceView {
  const { id, name, pool, state, running, types, version, host, pid, generation } = row;
  const isLiving = row.ended_at === null;
  const draining = row.drain !== "none";
  return {
    ...{ id, name, pool, state },
    draining,
    drained: state === "Alive" && row.drain === "begun" && running === 0 && row.reported_running === 0,
    workerCount: row.worker_count,
    running,
    free: isLiving && !draining ? Math.max(0, row.worker_count - running) : 0,
    reportedRunning: isLiving ? row.reported_running : 0,
    ...{ types, version, host, pid, generation },
    heartbeatMs: row.heartbeat_ms,
    memoryBytes: Number(row.memory_bytes),
    eventLoopLagMs: row.event_loop_lag_ms,
    startedAt: row.started_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    endedAt: isoOf(row.ended_at),
    endReason: row.end_reason,
    brokerLoss: row.broker_loss,
  };
}
