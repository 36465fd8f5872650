import { EntitySchema } from "typeorm";
import { column, nullable, primary } from "./column.ts";

/** One row a rebalance; the last 20 of a pool are kept. */
export const RebalancesTable = new EntitySchema({
  name: "Rebalance",
  tableName: "rebalances",
  columns: {
    id: primary("uuid"),
    pool: column("text"),
    /** A client's name, or auto. */
    askedBy: column("text", "asked_by"),
    why: column("text"),
    begunAt: column("timestamptz", "begun_at"),
    /** When its next step is due. */
    stepAt: column("timestamptz", "step_at"),
    planned: column("integer"),
    moved: column("integer"),
    waits: nullable("text"),
    waitsSince: nullable("timestamptz", "waits_since"),
    endedAt: nullable("timestamptz", "ended_at"),
    /** even, stalled, cancelled */
    outcome: nullable("text"),
  },
  indices: [{ name: "rebalances_one_under_way", unique: true }, { name: "rebalances_of_pool" }],
});

/** One row for each run that was told to move: by whom and why; kept for a month. */
export const MovesTable = new EntitySchema({
  name: "Move",
  tableName: "moves",
  columns: {
    runId: primary("uuid", "run_id"),
    observerId: column("uuid", "observer_id"),
    askedAt: column("timestamptz", "asked_at"),
    /** A client's name, or auto. */
    askedBy: column("text", "asked_by"),
    why: column("text"),
  },
  indices: [{ name: "moves_of_observer" }, { name: "moves_by_time" }],
});
