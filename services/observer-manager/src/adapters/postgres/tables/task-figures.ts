import { EntitySchema, type EntitySchemaColumnOptions } from "typeorm";
import { column, identity, primary } from "./column.ts";

const counts = (type: "integer" | "bigint"): Record<string, EntitySchemaColumnOptions> => ({
  created: column(type),
  completed: column(type),
  /** Given up. */
  failed: column(type),
  cancelled: column(type),
  /** Attempts that failed and are made again; tasks that were over and run again. */
  retried: column(type),
  /** Of the attempts that completed or failed, together. */
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
    /** Of each of these attempts that of its running time. */
    buckets: { type: "smallint", array: true },
  },
});

/** One row a type, pool and minute or hour in which something was. */
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
