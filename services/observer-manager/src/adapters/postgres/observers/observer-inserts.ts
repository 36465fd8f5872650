import type { ObserverId, ObserverView } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { NewObserver } from "../../../operations/observers/new-observer.ts";
import { prepared } from "../connection/prepared.ts";
import { viewOfNew } from "./observer-view.ts";

/**
 * No look-up before it: the primary key and the partial unique index on the name decide, also between two of one batch.
 * 20,000 rows by unnest take 88 ms; the same in chunks of VALUES ten times as long.
 */
const insertWith = (starts: string): string => `
  WITH o AS (
    INSERT INTO observers (id, name, type, params, labels, pool, retry, status, revision, created_at,
                           start_at, start_next_at, when_full, silence, spec_version, needed_spec_version,
                           sent_spec_version)
    SELECT id, name, type, params::jsonb, labels::jsonb, pool, retry::jsonb,
           CASE WHEN start_at > unacked_now() THEN 'Scheduled' ELSE 'Created' END,
           coalesce(revision, 1), coalesce(created_at, now()), start_at, start_at, when_full,
           silence::jsonb, spec_version, spec_version, spec_version
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::int[], $9::timestamptz[], $10::timestamptz[], $11::text[], $12::text[], $13::int[])
      AS u (id, name, type, params, labels, pool, retry, revision, created_at, start_at, when_full, silence,
            spec_version)
    ON CONFLICT DO NOTHING RETURNING id, revision, status
  ), starts AS (${starts})
  SELECT array_agg(id) AS ids, now() AS now, pg_notify('unacked_commands', ''), pg_notify('unacked_changes', '')
  FROM o HAVING count(*) > 0`;

const INSERT = prepared(
  insertWith(
    "INSERT INTO commands (kind, observer_id, revision) SELECT 'start', id, revision FROM o WHERE status = 'Created'",
  ),
);

/** The same where calls are traced: each start with the trace of its own call. An id is at most once among these. */
const INSERT_TRACED = insertWith(`
  INSERT INTO commands (kind, observer_id, revision, trace_context) SELECT 'start', o.id, o.revision, t.trace_context
  FROM o LEFT JOIN unnest($14::uuid[], $15::text[]) AS t (id, trace_context) USING (id)
  WHERE o.status = 'Created'`);

/** Inserts observers with their start commands; those whose id or name is taken are left out. */
export async function insertObservers(tx: EntityManager, observers: NewObserver[]): Promise<Map<ObserverId, ObserverView>> {
  if (observers.length === 0) return new Map();
  const contents = new Map(observers.toReversed().map((observer) => [observer.id, observer]));
  const isTraced = observers.some((o) => o.traceContext !== undefined);
  const [row] = await tx.query<{ ids: ObserverId[]; now: Date }[]>(isTraced ? INSERT_TRACED : INSERT, [
    observers.map((o) => o.id),
    observers.map((o) => o.name),
    observers.map((o) => o.type),
    observers.map((o) => JSON.stringify(o.params)),
    observers.map((o) => JSON.stringify(o.labels)),
    observers.map((o) => o.pool),
    observers.map((o) => JSON.stringify(o.retry)),
    observers.map((o) => o.revision ?? null),
    observers.map((o) => o.createdAt ?? null),
    observers.map((o) => o.startAt ?? null),
    observers.map((o) => (o.startAt === undefined ? null : (o.whenFull ?? null))),
    observers.map((o) => (o.silence == null ? null : JSON.stringify(o.silence))),
    observers.map((o) => o.specVersion ?? 1),
    ...(isTraced ? tracesOf([...contents.values()]) : []),
  ]);
  if (row === undefined) return new Map();
  const now = row.now.toISOString();
  return new Map(row.ids.map((id) => [id, viewOfNew(contents.get(id) as NewObserver, now)]));
}

const tracesOf = (observers: NewObserver[]): unknown[] => [
  observers.map((o) => o.id),
  observers.map((o) => o.traceContext ?? null),
];
