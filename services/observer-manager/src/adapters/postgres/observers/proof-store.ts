import type { DataSource } from "typeorm";
import type { Proof, ProofService, ProofSighting } from "../../../domain/observers/absence-proof.ts";
import type { ProofStore } from "../../../operations/observers/absence-prover.ts";
import { OR_SEND_AGAIN } from "../commands/command-writes.ts";
import { LIVING_STATES, STANDING } from "../services/service-states.ts";
import { AGO_MS, IN_THE_FUTURE } from "../statements/time-ago.ts";
import { IN_DOUBT, MESSAGE_POOL } from "./reconciler-store.ts";

const PROOF = `
  SELECT marker_id AS "markerId", ${AGO_MS("begun_at")} AS "ageMs", services, queue_seen_at IS NOT NULL AS "queueSeen",
         state_seen_at IS NOT NULL AS "stateSeen", round, ${AGO_MS("asked_at")} AS "askedAgoMs", rounds_before AS "roundsBefore",
         CASE WHEN pair_from IS NOT NULL THEN json_build_object('from', pair_from, 'services', pair_services) END AS pair
  FROM absence_proofs WHERE pool = $1`;

/** Index: services_living. */
const SERVICES = `
  SELECT ${STANDING},
         CASE WHEN answered_marker IS NOT NULL
              THEN json_build_object('markerId', answered_marker, 'round', answered_round) END AS answered
  FROM services WHERE pool = $1 AND state IN (${LIVING_STATES}) ORDER BY id`;

/** Reads as many rows as there were boots within the retention. */
const LAST_DEATH = `SELECT ${AGO_MS("max(ended_at)")} AS ms FROM services WHERE pool = $1 AND NOT (ended_at ${IN_THE_FUTURE})`;

/**
 * The ids that the proof of pool $2 does not judge. A subselect is hashed: after a deploy they are tens of thousands, and PostgreSQL
 * would search an array for each row.
 */
const NOT_JUDGED = "SELECT unnest(j.not_judged) FROM absence_proofs j WHERE j.pool = $2";
const UNCHANGED = `pg_visible_in_snapshot(o.changed_xid, p.snapshot) AND o.id NOT IN (${NOT_JUDGED})`;
const DELETING_UNCHANGED = "o.status = 'OnDeleting' AND pg_visible_in_snapshot(o.changed_xid, p.pair_snapshot)";

const DOUBTS = `
  SELECT count(*)::int AS count, coalesce(max(${AGO_MS("o.modified_at")}), 0) AS "oldestMs",
         (count(*) FILTER (WHERE ${UNCHANGED}))::int AS unchanged,
         (count(*) FILTER (WHERE o.status = 'OnDeleting'))::int AS deleting,
         (count(*) FILTER (WHERE ${DELETING_UNCHANGED}))::int AS "deletingUnchanged"
  FROM observers o LEFT JOIN absence_proofs p ON p.pool = ${MESSAGE_POOL} WHERE ${MESSAGE_POOL} = $2 AND ${IN_DOUBT}`;

const ABSENT = (which: string): string => `
  SELECT o.id, o.changed_xid::text AS mark FROM observers o JOIN absence_proofs p ON p.pool = ${MESSAGE_POOL}
  WHERE ${MESSAGE_POOL} = $2 AND p.marker_id = $3 AND ${which} AND ${IN_DOUBT} LIMIT $4`;

/** No proof is begun while more starts than this are on their way. One that waits for its time, as nobody has its type, is on none. */
const MAX_TO_BE_SENT = 1_000;
const IS_ON_ITS_WAY = "c.claim_id IS NOT NULL OR c.due_at <= now()";

const INSTEAD = `
  ON CONFLICT (pool) DO UPDATE SET
    marker_id = excluded.marker_id, services = excluded.services, not_judged = excluded.not_judged,
    begun_at = excluded.begun_at, snapshot = excluded.snapshot, queue_seen_at = excluded.queue_seen_at, state_seen_at = NULL,
    round = 0, asked_at = excluded.asked_at, rounds_before = NULL, pair_from = NULL, pair_services = NULL, pair_snapshot = NULL`;

/** The rows that it judges and the starts that are to be sent are of one snapshot: that of this statement. */
const BEGIN = `
  INSERT INTO absence_proofs AS p (pool, marker_id, services, not_judged)
  SELECT $1, $2::uuid, $3, coalesce(array_agg(c.observer_id), '{}')
  FROM commands c JOIN observers o ON o.id = c.observer_id WHERE c.kind = 'start' AND ${MESSAGE_POOL} = $1
  HAVING count(*) FILTER (WHERE ${IS_ON_ITS_WAY}) <= ${MAX_TO_BE_SENT}
  ${INSTEAD} WHERE p.marker_id = $4::uuid
  RETURNING marker_id`;

/** Begins a proof without a marker in the work queue, and for no services: one that is begun for services takes its place at once. */
const BEGIN_COUNTED = `
  INSERT INTO absence_proofs (pool, marker_id, services, not_judged, queue_seen_at) VALUES ($1, $2, '', '{}', now())
  ${INSTEAD}`;

/** The row changes only under the marker and the round that were seen: of two managers one asks. */
const NEXT_ROUND = `
  UPDATE absence_proofs SET round = $3, asked_at = now(),
    pair_from = CASE WHEN $5::text IS NULL THEN pair_from ELSE $3 END,
    pair_services = coalesce($5::text, pair_services),
    pair_snapshot = CASE WHEN $5::text IS NULL THEN pair_snapshot ELSE pg_current_snapshot() END
  WHERE pool = $1 AND marker_id = $2 AND round = $4 RETURNING pool`;

const ASK = `
  INSERT INTO commands (kind, service_id, generation, message_id, revision)
  SELECT 'report-inventory', id, generation, $2::uuid, $3 FROM services WHERE pool = $1 AND state IN (${LIVING_STATES})
  ${OR_SEND_AGAIN}, message_id = excluded.message_id, revision = excluded.revision`;

/** `rounds_before`: the last round that was asked for before both were seen. */
const SEEN = (column: "queue_seen_at" | "state_seen_at", other: "queue_seen_at" | "state_seen_at"): string => `
  UPDATE absence_proofs SET ${column} = coalesce(${column}, now()),
    rounds_before = CASE WHEN ${other} IS NOT NULL THEN coalesce(rounds_before, round) END
  WHERE marker_id = ANY($1)`;
export const QUEUE_MARKER_SEEN = SEEN("queue_seen_at", "state_seen_at");
const STATE_MARKER_SEEN = SEEN("state_seen_at", "queue_seen_at");

/**
 * Adds observers whose messages were seen since the proof began, or may have been: how long ago was said some time ago, and
 * what goes back is ready again a moment later.
 */
export const GIVEN_BACK = `
  UPDATE absence_proofs p SET not_judged = ARRAY(SELECT unnest(p.not_judged) UNION SELECT unnest(u.ids))
  FROM (SELECT a.marker_id, array_agg(given.observer_id) AS ids
        FROM unnest($1::uuid[], $2::uuid[], $3::float8[]) AS given (marker_id, observer_id, ago_ms)
        JOIN absence_proofs a ON a.marker_id = given.marker_id
        WHERE now() - given.ago_ms * interval '1 millisecond' >= a.begun_at - interval '2 seconds'
        GROUP BY a.marker_id) u
  WHERE p.marker_id = u.marker_id`;

const CLEAR = `
  DELETE FROM absence_proofs
  WHERE NOT pool = ANY($1) AND (queue_seen_at IS NOT NULL OR begun_at < now() - $2 * interval '1 millisecond')`;

export class PostgresProofStore implements ProofStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  /** One snapshot, so that nothing moves between the look at the observers and that at the services. */
  sight(pool: string, forMs: number): Promise<Omit<ProofSighting, "ready">> {
    return this.#dataSource.transaction("REPEATABLE READ", async (tx) => {
      const [proof = null] = await tx.query<Proof[]>(PROOF, [pool]);
      const services = await tx.query<ProofService[]>(SERVICES, [pool]);
      const [death] = await tx.query<{ ms: number | null }[]>(LAST_DEATH, [pool]);
      const [doubts] = await tx.query<[ProofSighting["doubts"]]>(DOUBTS, [forMs, pool]);
      return { proof, services, sinceDeathMs: death?.ms ?? null, doubts };
    });
  }

  async begin(pool: string, markerId: string, services: string, insteadOf: string | null): Promise<boolean> {
    const rows = await this.#dataSource.query<unknown[]>(BEGIN, [pool, markerId, services, insteadOf]);
    return rows.length > 0;
  }

  async beginCounted(pool: string, markerId: string): Promise<void> {
    await this.#dataSource.query(BEGIN_COUNTED, [pool, markerId]);
  }

  ask(...[pool, { markerId, round: seen }, { round, pairServices }]: Parameters<ProofStore["ask"]>): Promise<boolean> {
    return this.#dataSource.transaction(async (tx) => {
      const [rows] = await tx.query<[unknown[], number]>(NEXT_ROUND, [pool, markerId, round, seen, pairServices]);
      if (rows.length > 0) await tx.query(ASK, [pool, markerId, round]);
      return rows.length > 0;
    });
  }

  absent(...[pool, markerId, whom, { forMs, limit }]: Parameters<ProofStore["absent"]>): ReturnType<ProofStore["absent"]> {
    const which = whom === "unchanged" ? UNCHANGED : DELETING_UNCHANGED;
    return this.#dataSource.query(ABSENT(which), [forMs, pool, markerId, limit]);
  }

  async stateMarkersRead(markerIds: string[]): Promise<void> {
    await this.#dataSource.query(STATE_MARKER_SEEN, [markerIds]);
  }

  async clear(poolsInDoubt: string[], olderThanMs: number): Promise<void> {
    await this.#dataSource.query(CLEAR, [poolsInDoubt, olderThanMs]);
  }
}
