import type { ObserverId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { Inserted } from "../../../operations/books/books-store.ts";
import { CLAIM_HOLDS_MS } from "../../../operations/commands/command-store.ts";
import type { NewObserver } from "../../../operations/observers/new-observer.ts";
import { GivenRows, jsonOrNull } from "../statements/given-rows.ts";
import { prepared } from "../statements/prepared.ts";
import { viewOfNew } from "./observer-view.ts";

const GIVEN = new GivenRows<NewObserver>({
  id: ["uuid", (o) => o.id],
  name: ["text", (o) => o.name],
  type: ["text", (o) => o.type],
  params: ["jsonb", (o) => JSON.stringify(o.params)],
  labels: ["jsonb", (o) => JSON.stringify(o.labels)],
  pool: ["text", (o) => o.pool],
  retry: ["jsonb", (o) => JSON.stringify(o.retry)],
  revision: ["int", (o) => o.revision ?? null],
  created_at: ["timestamptz", (o) => o.createdAt ?? null],
  start_at: ["timestamptz", (o) => o.startAt ?? null],
  when_full: ["text", (o) => (o.startAt === undefined ? null : (o.whenFull ?? null))],
  silence: ["jsonb", (o) => jsonOrNull(o.silence ?? null)],
  spec_version: ["int", (o) => o.specVersion ?? 1],
});

/**
 * The primary key and the partial unique index on the name decide, also between two of one batch. $14, behind the columns,
 * is the claim; $15 and $16 are ids and their traces.
 */
const insertWith = (starts: string, given = GIVEN.from()): string => `
  WITH o AS (
    INSERT INTO observers (id, name, type, params, labels, pool, retry, status, revision, created_at,
                           start_at, start_next_at, when_full, silence, spec_version, needed_spec_version,
                           sent_spec_version)
    SELECT id, name, type, params, labels, pool, retry,
           CASE WHEN start_at > unacked_now() THEN 'Scheduled' ELSE 'Created' END,
           coalesce(revision, 1), coalesce(created_at, now()), start_at, start_at, when_full,
           silence, spec_version, spec_version, spec_version
    FROM ${given}
    ON CONFLICT DO NOTHING RETURNING id, revision, status
  ), starts AS (${starts} RETURNING id, observer_id)
  SELECT array_agg(id) AS ids, now() AS now, pg_notify('unacked_changes', ''),
         CASE WHEN $14::uuid IS NULL THEN pg_notify('unacked_commands', '') END,
         (SELECT array_agg(id::text) FROM starts WHERE $14 IS NOT NULL) AS "startIds",
         (SELECT array_agg(observer_id) FROM starts WHERE $14 IS NOT NULL) AS "startsOf"
  FROM o HAVING count(*) > 0`;

/** Without a claim the starts are due now. A claim counts from here on, however long the transaction has waited for a pool. */
const CLAIM = `
  $14::uuid, CASE WHEN $14 IS NOT NULL THEN clock_timestamp() END,
  CASE WHEN $14 IS NULL THEN now() ELSE clock_timestamp() + ${CLAIM_HOLDS_MS} * interval '1 millisecond' END`;

const STARTS = `
    INSERT INTO commands (kind, observer_id, revision, claim_id, claimed_at, due_at) SELECT 'start', id, revision, ${CLAIM}
    FROM o WHERE status = 'Created'`;

const INSERT = prepared(insertWith(STARTS));

/**
 * Leaves out ids that are there before the insert meets them: else a repeated request would wait for whoever is changing its observer. A
 * subselect for each row keeps their order.
 */
const BUT_THOSE_THERE = `${GIVEN.from(false)} WHERE (SELECT true FROM observers there WHERE there.id = u.id) IS NULL`;
const INSERT_OTHERS = prepared(insertWith(STARTS, BUT_THOSE_THERE));

/** The same if calls are traced: each start gets the trace of its own call. No id occurs twice among these. */
const INSERT_TRACED = insertWith(
  `
  INSERT INTO commands (kind, observer_id, revision, trace_context, claim_id, claimed_at, due_at)
  SELECT 'start', o.id, o.revision, t.trace_context, ${CLAIM}
  FROM o LEFT JOIN unnest($15::uuid[], $16::text[]) AS t (id, trace_context) USING (id)
  WHERE o.status = 'Created'`,
  BUT_THOSE_THERE,
);

interface InsertedRow {
  ids: ObserverId[];
  now: Date;
  startIds: string[] | null;
  startsOf: ObserverId[] | null;
}

/**
 * Inserts observers with their start commands; those whose id or name is taken are left out.
 *
 * @param mayBeThere whether nobody has looked yet for those that are there by their id
 */
export async function insertObservers(
  tx: EntityManager,
  observers: NewObserver[],
  claimId?: string,
  mayBeThere = false,
): Promise<Map<ObserverId, Inserted>> {
  if (observers.length === 0) return new Map();
  const contents = new Map(observers.toReversed().map((observer) => [observer.id, observer]));
  const isTraced = observers.some((o) => o.traceContext !== undefined);
  const [row] = await tx.query<InsertedRow[]>(isTraced ? INSERT_TRACED : mayBeThere ? INSERT_OTHERS : INSERT, [
    ...GIVEN.of(observers),
    claimId ?? null,
    ...(isTraced ? tracesOf([...contents.values()]) : []),
  ]);
  if (row === undefined) return new Map();
  const now = row.now.toISOString();
  const startOf = new Map(row.startsOf?.map((id, i) => [id, row.startIds?.[i]]));
  return new Map(
    row.ids.map((id) => {
      const claimedStart = startOf.get(id);
      const observer = viewOfNew(contents.get(id) as NewObserver, now);
      return [id, { observer, ...(claimedStart !== undefined && { claimedStart }) }];
    }),
  );
}

const tracesOf = (observers: NewObserver[]): unknown[] => [
  observers.map((o) => o.id),
  observers.map((o) => o.traceContext ?? null),
];
