import type { RunView } from "@unacked/contracts";
import { isoOf } from "./observer-view.ts";

/** A row of `runs`, with the name of its service where the books have it. */
export interface RunRow {
  id: string;
  observer_id: string;
  service_id: string;
  service_name: string | null;
  epoch: number;
  revision: number;
  generation: number;
  state: RunView["state"];
  started_at: Date;
  ended_at: Date | null;
  end_reason: RunView["endReason"];
  error: { name: string; message: string } | null;
}

export function toRunView(row: RunRow): RunView {
  const { id, epoch, revision, generation, state, error } = row;
  return {
    id,
    observerId: row.observer_id,
    service: { id: row.service_id, name: row.service_name },
    ...{ epoch, revision, generation, state },
    startedAt: row.started_at.toISOString(),
    endedAt: isoOf(row.ended_at),
    endReason: row.end_reason,
    error,
  };
}
