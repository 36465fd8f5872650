import type { ObserverView } from "@unacked/contracts";

/** Everything an ObserverView shows, of `observers o`; join OBSERVER_SERVICE with it. Index: services_pkey. */
export const OBSERVER_COLUMNS = `
  o.id, o.name, o.type, o.params, o.labels, o.pool, o.retry, o.status, o.revision, o.epoch, o.current_run_id, o.attempts,
  o.current_service_id, s.name AS service_name, o.last_error, o.error_group, o.last_error_at, o.next_attempt_at, o.created_at, o.modified_at`;

export const OBSERVER_SERVICE = "LEFT JOIN services s ON s.id = o.current_service_id";

/** One row of OBSERVER_COLUMNS. */
export interface ObserverRow {
  id: string;
  name: string;
  type: string;
  params: unknown;
  labels: ObserverView["labels"];
  pool: string;
  retry: ObserverView["retry"];
  status: ObserverView["status"];
  revision: number;
  epoch: number;
  current_run_id: string | null;
  attempts: number;
  current_service_id: string | null;
  service_name: string | null;
  last_error: { name: string; message: string } | null;
  error_group: string | null;
  last_error_at: Date | null;
  next_attempt_at: Date | null;
  created_at: Date;
  modified_at: Date;
}

export function toObserverView(row: ObserverRow): ObserverView {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    params: row.params,
    labels: row.labels,
    pool: row.pool,
    retry: row.retry,
    status: row.status,
    service: row.current_service_id === null ? null : { id: row.current_service_id, name: row.service_name ?? "" },
    currentRunId: row.current_run_id,
    revision: row.revision,
    epoch: row.epoch,
    attempts: row.attempts,
    lastError:
      row.last_error === null ? null : { ...row.last_error, group: row.error_group ?? "", at: isoOf(row.last_error_at) },
    nextAttemptAt: isoOf(row.next_attempt_at),
    createdAt: row.created_at.toISOString(),
    modifiedAt: row.modified_at.toISOString(),
  };
}

export function isoOf(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
