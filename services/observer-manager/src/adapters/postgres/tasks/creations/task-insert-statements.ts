import type { SendId } from "@unacked/contracts";
import { givenOnce } from "../../statements/mostly-one.ts";
import { prepared } from "../../statements/prepared.ts";
import { IS_LIMITED, ORDER } from "../claims/claim-terms.ts";

/** The tasks that are asked for, a row each. */
const ASKED = `(
      SELECT id, ${givenOnce("type", "$2::text[]")}, params, ${givenOnce("pool", "$4::text[]")}, ${givenOnce("priority", "$5::int[]")},
             start_at, max_attempts, key, parent_id, place
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int[], $6::timestamptz[], $7::int[], $8::text[], $9::uuid[])
        WITH ORDINALITY AS u (id, type, params, pool, priority, start_at, max_attempts, key, parent_id, place)) u`;

export interface FreshRow {
  id: string;
  status: "Scheduled" | "Ready" | "Sent";
  sendId: SendId | null;
}

/**
 * When tasks of this transaction are created, and due if they have no time of their own: it is the same for all, and so not returned
 * for each.
 */
export const TIMES = prepared('SELECT now() AS "createdAt", unacked_now() AS "dueAt"');

export interface Times {
  createdAt: Date;
  dueAt: Date;
}

/** Evaluated once, and not for each row. */
const NOW = "(SELECT unacked_now())";

/** How an insert meets what is there, and what it answers. */
interface Way {
  conflict: string;
  order?: string;
  returned?: string;
  /** @param sends the beginning of the send ids, as SQL; null: nothing is Sent */
  answer(sends: string, from: string): string;
}

/** Each that is in, as a row. */
const ANY: Way = {
  conflict: "ON CONFLICT DO NOTHING",
  order: "ORDER BY CASE WHEN key IS NOT NULL THEN type END, key, place",
  returned: "RETURNING id, status, send_id",
  answer: () => 'SELECT id, status, send_id AS "sendId" FROM fresh',
};

/** All are in, so that one row tells what became of them: FreshOnes. */
const OF_NEW: Way = {
  conflict: "",
  answer: (sends, from) => `SELECT ${sends} AS sends, (
      SELECT array_agg(place::int) FROM unnest($6::timestamptz[]) WITH ORDINALITY AS l (start_at, place) WHERE start_at > ${NOW}) AS later ${from}`,
};

export interface FreshOnes {
  /** What the send ids begin with; null: none is Sent, but Ready. */
  sends: string | null;
  /** The places, from one on, of those that are Scheduled; null: none. */
  later: number[] | null;
}

const inserting = ({ order = "", conflict, returned = "", answer }: Way): string =>
  prepared(`
  WITH fresh AS (
    INSERT INTO tasks (id, type, params, pool, priority, due_at, max_attempts, status, key, parent_id)
    SELECT id, type, params::jsonb, pool, priority, coalesce(start_at, ${NOW}), max_attempts,
           CASE WHEN start_at > ${NOW} THEN 'Scheduled' ELSE 'Ready' END, key, parent_id
    FROM ${ASKED}
    ${order}
    ${conflict} ${returned})
  ${answer("NULL::text", "")}`);

/**
 * `any`: callers chose some of the ids. `ofNew`: all are made here, and there are no keys, so that nothing can be there already; a row that
 * need not look costs a seventh less, and need not be answered.
 */
interface Inserts {
  any: string;
  ofNew: string;
}

/**
 * tasks_pkey and tasks_key decide, also between two of one batch: the first of them is in. Those with keys go in one order, so that
 * no two such batches wait for each other.
 */
export const INSERT: Inserts = { any: inserting(ANY), ofNew: inserting(OF_NEW) };

/**
 * Runs before INSERT_AT_ONCE, in its transaction. A change of limits locks the table, and so is answered when it sees what is being sent,
 * and counts it. A manager that is frozen in between holds a change up for 5 s.
 */
export const BEFORE_AT_ONCE = [
  "SET LOCAL idle_in_transaction_session_timeout = '5s'",
  "LOCK TABLE task_types IN ROW SHARE MODE",
].map(prepared);

/** How many workers something takes, as SQL: without batches in the pool each task takes one. */
interface Workers {
  /** What is in flight in the pool; no more than the window need be found. */
  inFlight: string;
  /** What of `asked` is due. */
  asked: string;
  steps?: string;
}

const IS_SENT = "has_room AND NOT is_later";
/** One random UUID for a statement: each row puts its place into the last twelve digits, as a random one costs PostgreSQL 1 µs. */
const SEND_ID = "(sending.sends || lpad(to_hex(place), 12, '0'))::uuid";

/** The same, here. */
export const sendIdAt = (sends: string, place: number): SendId =>
  `${sends}${place.toString(16).padStart(12, "0")}` as SendId;

const IN_FLIGHT = "pool = $10 AND status IN ('Sent', 'Running') AND lease_until IS NULL ORDER BY lease_until, sent_at";

/**
 * Inserts tasks without keys, all of the pool $10, whose services have the types $12. What is due is Sent as it is created if nothing else
 * is due in the pool (or waits to be Ready, in any), the window $11 has room for all that is due, and no type of the pool is limited.
 * Otherwise it is Ready. It takes no lock of the pool, as a transaction holds it for longer than a claim: who claims at the same time may
 * fill the window once more. Indexes: tasks_ready, tasks_scheduled, tasks_in_flight, each in its order.
 */
const insertingAtOnce = (workers: Workers): Inserts => ({
  any: insertAtOnce(workers, ANY),
  ofNew: insertAtOnce(workers, OF_NEW),
});

const insertAtOnce = (
  { inFlight, asked, steps = "" }: Workers,
  { conflict, returned = "", answer }: Omit<Way, "order">,
): string =>
  prepared(`
  WITH asked AS MATERIALIZED (
    SELECT *, coalesce(start_at, ${NOW}) AS due_at, start_at > ${NOW} IS TRUE AS is_later FROM ${ASKED}
  )${steps}, room AS MATERIALIZED (
    SELECT CASE WHEN EXISTS (SELECT FROM task_types WHERE type = ANY($12::text[]) AND ${IS_LIMITED}) THEN 0
      WHEN EXISTS (SELECT FROM asked WHERE type <> ALL($12::text[])) THEN 0
      WHEN (SELECT true FROM tasks WHERE pool = $10 AND status = 'Ready' ORDER BY ${ORDER} LIMIT 1) THEN 0
      WHEN (SELECT true FROM tasks WHERE status = 'Scheduled' AND due_at <= unacked_now() ORDER BY due_at LIMIT 1) THEN 0
      ELSE $11::int - ${inFlight} END AS room
  ), sending AS MATERIALIZED (
    SELECT clock_timestamp() AS at, room >= ${asked} AS has_room, left(gen_random_uuid()::text, 24) AS sends FROM room
  ), fresh AS (
    INSERT INTO tasks (id, type, params, pool, priority, due_at, max_attempts, parent_id, status, send_id, sends, sent_at)
    SELECT id, type, params::jsonb, pool, priority, due_at, max_attempts, parent_id,
           CASE WHEN is_later THEN 'Scheduled' WHEN has_room THEN 'Sent' ELSE 'Ready' END,
           CASE WHEN ${IS_SENT} THEN ${SEND_ID} END, (${IS_SENT})::int, CASE WHEN ${IS_SENT} THEN at END
    FROM asked, sending ${conflict} ${returned})
  ${answer("CASE WHEN has_room THEN sends END", "FROM sending")}`);

export const INSERT_AT_ONCE = insertingAtOnce({
  inFlight: `(SELECT count(*) FROM (SELECT FROM tasks WHERE ${IN_FLIGHT} LIMIT $11) flight)`,
  asked: "(SELECT count(*) FROM asked WHERE NOT is_later)",
});

/** The same if the types $13 take batches of $14: a call takes one worker, as in CLAIM_CALLS. What is Sent here has one `sent_at`. */
export const INSERT_CALLS_AT_ONCE = insertingAtOnce({
  steps: ", sizes AS MATERIALIZED (SELECT * FROM unnest($13::text[], $14::int[]) AS s (type, size))",
  inFlight: `(SELECT coalesce(sum(ceil(n::numeric / coalesce(size, 1))), 0)::int FROM (
        SELECT type, count(*) AS n FROM (
          SELECT type, sent_at FROM tasks WHERE ${IN_FLIGHT} LIMIT $11::bigint * (SELECT max(size) FROM sizes)) flight
        GROUP BY type, sent_at) rounds LEFT JOIN sizes USING (type))`,
  asked: `(SELECT coalesce(sum(ceil(n::numeric / coalesce(size, 1))), 0) FROM (
        SELECT type, count(*) AS n FROM asked WHERE NOT is_later GROUP BY type) due LEFT JOIN sizes USING (type))`,
});
