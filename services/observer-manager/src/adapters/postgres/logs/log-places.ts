import type { ObserverId, ObserverStatus, RunId, ServiceId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { LogPlace, LogPlaces } from "../../../operations/logs/log-source.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import { type LastErrorRow, lastErrorOf } from "../observers/observer-view.ts";
import { LIVING_STATES } from "../services/service-states.ts";

/** The current run, or else the last one. Indexes: runs_pkey, runs_of_observer, services_pkey. */
const PLACE = `
  SELECT o.id, o.name, o.status, r.id AS "runId", r.id IS NOT DISTINCT FROM o.current_run_id AS "isCurrent",
         r.service_id AS "serviceId", coalesce(s.name, '') AS "serviceName", coalesce(s.generation, 0) AS generation,
         coalesce(s.state IN (${LIVING_STATES}), false) AS "serviceIsLiving",
         o.last_error - 'stack' AS last_error, o.last_error ->> 'stack' AS stack, o.error_group, o.last_error_at
  FROM observers o
  LEFT JOIN runs r ON r.id = coalesce(o.current_run_id,
    (SELECT last.id FROM runs last WHERE last.observer_id = o.id ORDER BY last.epoch DESC LIMIT 1))
  LEFT JOIN services s ON s.id = r.service_id`;

/** Index: observers_pkey. */
const BY_ID = `${PLACE} WHERE o.id = $1`;
/** Index: observers_name_of_living. */
const BY_NAME = `${PLACE} WHERE o.name = $1 AND o.status <> 'Deleted'`;

interface PlaceRow extends LastErrorRow {
  id: ObserverId;
  name: string;
  status: ObserverStatus;
  runId: RunId | null;
  isCurrent: boolean;
  serviceId: ServiceId;
  serviceName: string;
  generation: number;
  serviceIsLiving: boolean;
}

export class PostgresLogPlaces implements LogPlaces {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async find(ref: ObserverRef): Promise<LogPlace | undefined> {
    const [row] =
      ref.kind === "id"
        ? await this.#dataSource.query<PlaceRow[]>(BY_ID, [ref.id])
        : await this.#dataSource.query<PlaceRow[]>(BY_NAME, [ref.name]);
    if (row === undefined) return undefined;
    const { id, name, status } = row;
    return { observer: { id, name }, status, run: runOf(row), lastError: lastErrorOf(row) };
  }
}

function runOf({ runId, serviceId, serviceName, isCurrent, generation, serviceIsLiving }: PlaceRow): LogPlace["run"] {
  if (runId === null) return null;
  return { id: runId, service: { id: serviceId, name: serviceName }, isCurrent, generation, serviceIsLiving };
}
