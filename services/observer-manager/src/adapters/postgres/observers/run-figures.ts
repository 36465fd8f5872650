import { MAX_RUN_FIGURE_MINUTES, type RunCounts, type RunFigures } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { RunFigure } from "../../../domain/observers/run-figures.ts";
import type { RunFigureQuery } from "../../../operations/observers/run-figure-query.ts";
import { GivenRows } from "../statements/given-rows.ts";
import { intPlus, MAX_INT } from "../statements/int-sum.ts";
import { prepared } from "../statements/prepared.ts";

const INTS = ["starts", "failures", "interruptions"] as const;
const COUNTS = [...INTS, "emits"] as const;
/**
 * One event may tell more failures than fit into an `integer` beside those that are counted: the sum stops there, and what comes next is
 * applied.
 */
const ADDED = [
  ...INTS.map((count) => `${count} = ${intPlus(`f.${count}`, `excluded.${count}`)}`),
  "emits = f.emits + excluded.emits",
].join(", ");
const SUMS = COUNTS.map((count) => `sum(f.${count})::float8 AS ${count}`).join(", ");
/** Minutes begin at those of UTC. */
const THIS_MINUTE = "date_trunc('minute', now())";

const GIVEN = new GivenRows<RunFigure>({
  type: ["text", ({ type }) => type],
  service_id: ["uuid", ({ serviceId }) => serviceId],
  starts: ["int", ({ starts }) => Math.min(starts, MAX_INT)],
  failures: ["int", ({ failures }) => Math.min(failures, MAX_INT)],
  interruptions: ["int", ({ interruptions }) => interruptions],
  emits: ["bigint", ({ emits }) => emits],
});

/** Index: run_figures_pkey. */
const ADD = prepared(`
  INSERT INTO run_figures AS f (at, ${GIVEN.names()})
  SELECT ${THIS_MINUTE}, * FROM ${GIVEN.from()}
  ON CONFLICT (at, type, service_id) DO UPDATE SET ${ADDED}`);

export async function addRunFigures(tx: EntityManager, rows: readonly RunFigure[]): Promise<void> {
  if (rows.length > 0) await tx.query(ADD, GIVEN.of(rows));
}

/**
 * A CTE's statement behind `noted (id)`: adds what a service has emitted since `before (emits)`, if it told before. @param told JSON by
 * type, what it has emitted since its boot
 */
export const addEmits = (told: string): string => `
  INSERT INTO run_figures AS f (at, type, service_id, starts, failures, interruptions, emits)
  SELECT ${THIS_MINUTE}, t.type, n.id, 0, 0, 0, t.count::bigint - coalesce((b.emits ->> t.type)::bigint, 0)
  FROM noted n, before b, jsonb_each_text(${told}) AS t (type, count)
  WHERE b.emits IS NOT NULL AND t.count::bigint > coalesce((b.emits ->> t.type)::bigint, 0) ORDER BY t.type
  ON CONFLICT (at, type, service_id) DO UPDATE SET ${ADDED}`;

/** Index: run_figures_pkey. SKIP LOCKED: two managers sweep side by side. */
export const FORGET_RUN_FIGURES = `
  DELETE FROM run_figures WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM run_figures WHERE at < now() - interval '${MAX_RUN_FIGURE_MINUTES + 60} minutes'
    ORDER BY at LIMIT $1 FOR UPDATE SKIP LOCKED))`;

const MATCHING = `
  FROM run_figures f LEFT JOIN services s ON s.id = f.service_id
  WHERE f.at >= $1 AND ($2::text IS NULL OR f.type = $2) AND ($3::text IS NULL OR s.name = $3 OR f.service_id::text = lower($3))`;

/** Indexes: run_figures_pkey, services_pkey. */
const BY_MINUTE = `SELECT f.at, ${SUMS} ${MATCHING} GROUP BY f.at ORDER BY f.at`;
const BY_TYPE = `SELECT f.type, ${SUMS} ${MATCHING} GROUP BY f.type ORDER BY sum(f.starts) DESC, f.type LIMIT 100`;
const BY_SERVICE = `
  SELECT f.service_id AS id, s.name, ${SUMS} ${MATCHING} GROUP BY f.service_id, s.name
  ORDER BY sum(f.starts) DESC, s.name, f.service_id LIMIT 100`;
const SINCE = `SELECT now() AS at, ${THIS_MINUTE} - ($1::int - 1) * interval '1 minute' AS since`;

export async function readRunFigures(dataSource: DataSource, query: RunFigureQuery): Promise<RunFigures> {
  const [now] = await dataSource.query<{ at: Date; since: Date }[]>(SINCE, [query.minutes]);
  const { at, since } = now ?? { at: new Date(), since: new Date() };
  const asked = [since, query.type ?? null, query.service ?? null];
  const [minutes, types, services] = await Promise.all([
    dataSource.query<(RunCounts & { at: Date })[]>(BY_MINUTE, asked),
    dataSource.query<(RunCounts & { type: string })[]>(BY_TYPE, asked),
    dataSource.query<(RunCounts & { id: string; name: string | null })[]>(BY_SERVICE, asked),
  ]);
  return {
    at: at.toISOString(),
    since: since.toISOString(),
    items: minutes.map((row) => ({ ...row, at: row.at.toISOString() })),
    byType: types,
    byService: services.map(({ id, name, ...counts }) => ({ service: { id, name }, ...counts })),
  };
}
