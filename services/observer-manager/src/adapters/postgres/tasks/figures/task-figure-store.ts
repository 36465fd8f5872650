import type { DataSource } from "typeorm";
import type { FigureSpan } from "../../../../domain/tasks/figure-bars.ts";
import type { FigureRow, TaskStandings } from "../../../../domain/tasks/figures-overview.ts";
import type { TaskFigureStore } from "../../../../operations/tasks/figures/task-figure-store.ts";
import { isKnownType } from "../views/task-view.ts";
import { readTaskStandings } from "./task-standing-reads.ts";

const SECONDS: Record<FigureSpan, number> = { minute: 60, hour: 3_600 };
/** How long figures by minute and by hour are kept. */
const KEPT: Record<FigureSpan, string> = { minute: "2 days", hour: "30 days" };
const COUNTS = ["created", "completed", "failed", "cancelled", "retried"];
const sums = COUNTS.map((count) => `sum(${count}) AS ${count}`).join(", ");

/** CTEs that end in `summed`: the deltas of `taken`, summed by span, start, type and pool. @param spans `(name, seconds)`, as SQL */
const summed = (spans: string): string => `
  spans (span, seconds) AS (VALUES ${spans}
  ), placed AS (
    SELECT s.span, to_timestamp(floor(extract(epoch FROM d.at) / s.seconds) * s.seconds) AS start, d.* FROM taken d, spans s
  ), counted AS (
    SELECT span, start, type, pool, ${sums}, sum(ran_ms) AS ran_ms FROM placed GROUP BY 1, 2, 3, 4
  ), attempts AS (
    SELECT span, start, type, pool, jsonb_object_agg(bucket, count) AS histogram FROM (
      SELECT span, start, type, pool, bucket, count(*) FROM placed, unnest(buckets) AS bucket GROUP BY 1, 2, 3, 4, 5) each_bucket
    GROUP BY 1, 2, 3, 4
  ), summed AS (
    SELECT span, start, type, pool, ${COUNTS.join(", ")}, ran_ms, coalesce(histogram, '{}') AS histogram
    FROM counted LEFT JOIN attempts USING (span, start, type, pool))`;

const HISTOGRAMS_ADDED = `(
  SELECT coalesce(jsonb_object_agg(bucket, count), '{}') FROM (
    SELECT key AS bucket, sum(value::bigint) AS count
    FROM (SELECT * FROM jsonb_each_text(f.histogram) UNION ALL SELECT * FROM jsonb_each_text(excluded.histogram)) both_of GROUP BY 1) added)`;

/** Inserts in one order, so that two managers that fold at once do not wait for one another in a circle. */
const FOLD = `
  WITH taken AS (
    DELETE FROM task_figure_deltas WHERE id = ANY(ARRAY(
      SELECT id FROM task_figure_deltas ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING *
  ), ${summed("('minute', 60), ('hour', 3600)")}, kept AS (
    INSERT INTO task_figures AS f (span, at, type, pool, ${COUNTS.join(", ")}, ran_ms, histogram)
    SELECT * FROM summed ORDER BY span, start, type, pool
    ON CONFLICT (span, at, type, pool) DO UPDATE SET
      ${COUNTS.map((count) => `${count} = f.${count} + excluded.${count}`).join(", ")},
      ran_ms = f.ran_ms + excluded.ran_ms, histogram = ${HISTOGRAMS_ADDED})
  SELECT count(*)::int AS count FROM taken`;

/** Index: task_figures_pkey. SKIP LOCKED: two managers sweep side by side. */
const FORGET = Object.entries(KEPT).map(
  ([span, age]) => `
    DELETE FROM task_figures WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM task_figures WHERE span = '${span}' AND at < now() - interval '${age}'
      ORDER BY at LIMIT $1 FOR UPDATE SKIP LOCKED))`,
);

/** Reads what is folded, and the seconds that are not yet. Index: task_figures_pkey. */
const read = (span: FigureSpan): string => `
  WITH taken AS (
    SELECT * FROM task_figure_deltas WHERE at >= $1 AND ($2::text IS NULL OR type = $2) AND ($3::text IS NULL OR pool = $3)
  ), ${summed(`('${span}', ${SECONDS[span]})`)}
  SELECT start AS at, type, pool, ${COUNTS.map((count) => `${count}::float8`).join(", ")}, ran_ms AS "ranMs", histogram FROM summed
  UNION ALL
  SELECT at, type, pool, ${COUNTS.map((count) => `${count}::float8`).join(", ")}, ran_ms, histogram FROM task_figures
  WHERE span = '${span}' AND at >= $1 AND ($2::text IS NULL OR type = $2) AND ($3::text IS NULL OR pool = $3)`;

/**
 * Whether a service has it, or had it an hour or two ago, somebody has limited it, or there is a task of it. Index: ended_tasks_of_type of
 * each day.
 */
const IS_KNOWN = `SELECT ${isKnownType("$1::text")} AS known`;

interface Row extends Omit<FigureRow, "atMs"> {
  at: Date;
}

/** Figures by minute and hour. */
export class PostgresTaskFigureStore implements TaskFigureStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async fold(limit: number): Promise<number> {
    const [row] = await this.#dataSource.query<{ count: number }[]>(FOLD, [limit]);
    return row?.count ?? 0;
  }

  async forgetOld(limit: number): Promise<number> {
    let gone = 0;
    for (const statement of FORGET) {
      const [, count] = await this.#dataSource.query<[unknown[], number]>(statement, [limit - gone]);
      gone += count;
    }
    return gone;
  }

  async read({ by, sinceMs, type, pool }: Parameters<TaskFigureStore["read"]>[0]): Promise<FigureRow[]> {
    const rows = await this.#dataSource.query<Row[]>(read(by), [new Date(sinceMs), type ?? null, pool ?? null]);
    return rows.map(({ at, ...figures }) => ({ ...figures, atMs: at.getTime() }));
  }

  async isKnown(type: string): Promise<boolean> {
    const [row] = await this.#dataSource.query<{ known: boolean }[]>(IS_KNOWN, [type]);
    return row?.known ?? false;
  }

  standings(): Promise<TaskStandings> {
    return readTaskStandings(this.#dataSource);
  }

  async nowMs(): Promise<number> {
    const [row] = await this.#dataSource.query<{ now: Date }[]>("SELECT now() AS now");
    return row?.now.getTime() ?? Date.now();
  }
}
