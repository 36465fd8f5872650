import { EntitySchema } from "typeorm";
import { column, nullable, primary } from "./column.ts";

/**
 * Where runs have got to. Each observer that saves has one row with the last two checkpoints of its newest run, and beside it rows for
 * runs that ask or have yet to end. A row goes when a later run has started, or with its observer.
 */
export const CheckpointsTable = new EntitySchema({
  name: "Checkpoint",
  tableName: "checkpoints",
  columns: {
    /** An id that no run has, if somebody has set or reset it. */
    runId: primary("uuid", "run_id"),
    observerId: column("uuid", "observer_id"),
    /** The token of that run: the highest of those that have started counts. */
    fencingToken: column("bigint", "fencing_token"),
    isStarted: column("boolean", "is_started"),
    number: column("bigint"),
    /** JSON, which nobody but the type reads; null: it was reset. */
    value: nullable("text"),
    savedAt: column("timestamptz", "saved_at"),
    previousNumber: nullable("bigint", "previous_number"),
    previousValue: nullable("text", "previous_value"),
    previousSavedAt: nullable("timestamptz", "previous_saved_at"),
  },
  indices: [{ name: "checkpoints_of_observer" }],
});
