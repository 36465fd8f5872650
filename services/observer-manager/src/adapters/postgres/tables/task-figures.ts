import { EntitySchema, type EntitySchemaColumnOptions } from "typeorm";
import { column, identity, primary } from "./column.ts";

const counts = (type: "integer" | "bigint"): Record<string, EntitySchemaColumnOptions> => ({
  created: column(type),
  completed: column(type),
  /** Tasks that were given up. */
  failed: column(type),
  cancelled: column(type),
  /** Attempts that failed and are made again; tasks that were over and run again. */
  retried: column(type),
  /** The running times of the attempts that completed or failed, together. */
  ranMs: column("double precision", "ran_ms"),
});

/** What one transaction adds; folded into task_figures within seconds. */
export const TaskFigureDeltasTable = new EntitySchema({
  name: "TaskFigureDelta",
  tableName: "task_figure_deltas",
  columns: {
    id: identity(),
    at: column("timestamptz"),
    type: column("text"),
    pool: column("text"),
    ...counts("integer"),
    /** The bucket of its running time for each of these attempts. */
    buckets: { type: "smallint", array: true },
  },
});

/** One row for each type, pool and minute or hour in which something happened. */
export const TaskFiguresTable = new EntitySchema({
  name: "TaskFigure",
  tableName: "task_figures",
  columns: {
    /** `minute` or `hour`. */
    span: primary("text"),
    /** When it begins. */
    at: primary("timestamptz"),
    type: primary("text"),
    pool: primary("text"),
    ...counts("bigint"),
    /** How many attempts, by the bucket of their running time. */
    histogram: column("jsonb"),
  },
});
