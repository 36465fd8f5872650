import type { ErrorText, RunList, RunView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { shownTime, shownTimeOrNull } from "../../../domain/shown-time.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import { findObserver } from "./observer-reads.ts";

/** A row of `runs`, with the name of its service where the books have it. */
export interface RunRow {
  id: string;
  observer_id: string;
  service_id: string;
  service_name: string | null;
  epoch: number;
  fencing_token: number | null;
  revision: number;
  generation: number;
  state: RunView["state"];
  started_at: Date;
  ended_at: Date | null;
  end_reason: RunView["endReason"];
  error: ErrorText | null;
  interruption: string | null;
  spec_version: number | null;
}

export function toRunView(row: RunRow): RunView {
  const { id, epoch, revision, generation, state, error, interruption } = row;
  return {
    id,
    observerId: row.observer_id,
    service: { id: row.service_id, name: row.service_name },
    runNumber: epoch,
    epoch,
    fencingToken: row.fencing_token,
    revision,
    specVersion: row.spec_version,
    generation,
    state,
    startedAt: shownTime(row.started_at),
    endedAt: shownTimeOrNull(row.ended_at),
    endReason: row.end_reason,
    error,
    interruption,
  };
}

/** An observer may have had many lives; the newest are what one looks for. */
const MAX_RUNS = 1_000;

/** Index: runs_of_observer, services_pkey. */
const RUNS = `
  SELECT r.id, r.observer_id, r.service_id, s.name AS service_name, r.epoch, r.fencing_token::float8, r.revision, r.generation, r.state, r.started_at,
         r.ended_at, r.end_reason, r.error, r.interruption, r.spec_version
  FROM runs r LEFT JOIN services s ON s.id = r.service_id
  WHERE r.observer_id = $1 ORDER BY r.epoch DESC LIMIT ${MAX_RUNS}`;

const RUN_COUNT = "SELECT count(*)::int AS total FROM runs WHERE observer_id = $1";

export async function listRuns(dataSource: DataSource, ref: ObserverRef): Promise<RunList | undefined> {
  const observer = await findObserver(dataSource, ref);
  if (observer === undefined) return undefined;
  const [[count], rows] = await Promise.all([
    dataSource.query<{ total: number }[]>(RUN_COUNT, [observer.id]),
    dataSource.query<RunRow[]>(RUNS, [observer.id]),
  ]);
  return { items: rows.map(toRunView), total: count?.total ?? 0 };
}
