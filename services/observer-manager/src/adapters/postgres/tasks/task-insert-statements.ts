import type { SendId } from "@unacked/contracts";
import { prepared } from "../connection/prepared.ts";
import { ORDER } from "./task-claim.ts";

/** What is asked for, a row each. */
const ASKED = `unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int[], $6::timestamptz[], $7::int[], $8::text[], $9::uuid[])
      WITH ORDINALITY AS u (id, type, params, pool, priority, start_at, max_attempts, key, parent_id, place)`;

export interface FreshRow {
  id: string;
  status: "Scheduled" | "Ready" | "Sent";
  dueMs: number;
  createdMs: number;
  sendId: SendId | null;
}

/** Since 1970, exactly: a number is read sooner than a Date, which few of thousands are shown with. */
const msOf = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;

const RETURNED = "id, due_at, status, created_at, send_id";
const FRESH = `SELECT id, status, ${msOf("due_at")} AS "dueMs", ${msOf("created_at")} AS "createdMs", send_id AS "sendId" FROM fresh`;

const inserting = (order: string, conflict: string): string =>
  prepared(`
  WITH fresh AS (
    INSERT INTO tasks (id, type, params, pool, priority, due_at, max_attempts, status, key, parent_id)
    SELECT id, type, params::jsonb, pool, priority, coalesce(start_at, unacked_now()), max_attempts,
           CASE WHEN start_at > unacked_now() THEN 'Scheduled' ELSE 'Ready' END, key, parent_id
    FROM ${ASKED}
    ${order}
    ${conflict} RETURNING ${RETURNED})
  ${FRESH}`);

/**
 * tasks_pkey and tasks_key decide, also between two of one batch: the first of them is in. Those with keys go in one order, so that
 * no two of such batches wait for each other.
 */
export const INSERT = inserting("ORDER BY CASE WHEN key IS NOT NULL THEN type END, key, place", "ON CONFLICT DO NOTHING");
/** Of those whose ids were made here, and which have no keys: nothing can be there already. A row that need not look costs a seventh less. */
export const INSERT_NEW = inserting("", "");

/**
 * Of those without keys, all of the pool $10, whose services have the types $12: what is due is Sent as it is created, where nothing else waits in the
 * pool, the window $11 has room for all that is due, and no type of the pool is limited. Otherwise it is Ready. Indexes: tasks_ready, tasks_in_flight.
 *
 * - No lock of the pool is taken, as a transaction holds it for longer than a claim: who claims at the same time may fill the window once more.
 * - `limited` locks the table as a claim does, until the commit: a change of limits is answered when these are to be seen, and counts them.
 */
export const INSERT_AT_ONCE = prepared(`
  WITH asked AS MATERIALIZED (
    SELECT *, coalesce(start_at, unacked_now()) AS due_at, start_at > unacked_now() IS TRUE AS is_later FROM ${ASKED}
  ), limited AS MATERIALIZED (
    SELECT l.type FROM task_types l WHERE l.type = ANY($12::text[])
      AND (l.paused OR l.max_running IS NOT NULL OR l.rate_per_second IS NOT NULL OR l.min_running > 0)
    ORDER BY l.type FOR KEY SHARE OF l
  ), room AS MATERIALIZED (
    SELECT CASE WHEN EXISTS (SELECT FROM limited) OR EXISTS (SELECT FROM asked WHERE type <> ALL($12::text[])) THEN 0
      WHEN (SELECT true FROM tasks WHERE pool = $10 AND status = 'Ready' ORDER BY ${ORDER} LIMIT 1) THEN 0
      ELSE $11::int - (SELECT count(*) FROM (
        SELECT FROM tasks WHERE pool = $10 AND status IN ('Sent', 'Running') AND lease_until IS NULL LIMIT $11) flight) END AS room
  ), fates AS MATERIALIZED (
    SELECT asked.*, CASE WHEN is_later THEN 'Scheduled' WHEN room < (SELECT count(*) FROM asked WHERE NOT is_later) THEN 'Ready' ELSE 'Sent' END AS status
    FROM asked, room
  ), fresh AS (
    INSERT INTO tasks (id, type, params, pool, priority, due_at, max_attempts, parent_id, status, send_id, sends, sent_at)
    SELECT id, type, params::jsonb, pool, priority, due_at, max_attempts, parent_id, status,
           CASE WHEN status = 'Sent' THEN gen_random_uuid() END, (status = 'Sent')::int, CASE WHEN status = 'Sent' THEN clock_timestamp() END
    FROM fates ON CONFLICT DO NOTHING RETURNING ${RETURNED})
  ${FRESH}`);
