import { prepared } from "../../statements/prepared.ts";
import { IS_LIMITED, IS_STILL_READY, ORDER, POOL_IS_MINE, SENT } from "./claim-terms.ts";

/**
 * The claim for services of pool $1 with the window $2, the types $3, and the types $4, which take batches. If none of these is limited,
 * all that is next is of $3, and nothing of $4 is in flight, it takes what CLAIM would. It is planned in a quarter of the time, for which
 * each single task waits. Otherwise it takes nothing: `isRefused`.
 * `isAll`: there were no more, but for what somebody else holds locked: that is found by a later look.
 *
 * - One manager has a pool at a time, as in CLAIM; a function with a snapshot of its own counts what is in flight when the lock is held.
 * - `limited` locks the table as CLAIM does, so that a change of limits is answered when this claim, too, is over.
 * - What is next is looked at before it is locked, so that tasks of others are hidden from nobody who would take them.
 * - Rows are named by an array, and never by a join: see postgres-command-store.ts.
 */
export const CLAIM_PLAIN = prepared(`
  WITH mine AS MATERIALIZED (
    SELECT ${POOL_IS_MINE} AS is_mine
  ), limited AS MATERIALIZED (
    SELECT l.type FROM task_types l WHERE l.type = ANY($3::text[] || $4::text[]) AND ${IS_LIMITED}
    ORDER BY l.type FOR KEY SHARE OF l
  ), locked AS MATERIALIZED (
    SELECT clock_timestamp() AS at, (SELECT is_mine FROM mine) AS is_mine, count(*) > 0 AS is_limited FROM limited
  ), flight AS MATERIALIZED (
    SELECT f.type, f.count AS sent FROM locked CROSS JOIN unacked_tasks_held(CASE WHEN locked.is_mine THEN $1 END, '{}') f
  ), plain AS MATERIALIZED (
    SELECT NOT is_limited AND NOT EXISTS (SELECT FROM flight WHERE type = ANY($4::text[])) AS is_plain FROM locked
  ), room AS MATERIALIZED (
    SELECT CASE WHEN is_mine AND is_plain THEN greatest(0, $2::int - (SELECT coalesce(sum(sent), 0) FROM flight)) ELSE 0 END AS room FROM locked, plain
  ), next AS MATERIALIZED (
    SELECT id, type FROM tasks WHERE pool = $1 AND status = 'Ready' ORDER BY ${ORDER} LIMIT (SELECT room FROM room)
  ), served AS MATERIALIZED (
    SELECT NOT EXISTS (SELECT FROM next WHERE type <> ALL($3::text[])) AS is_served, (SELECT count(*) FROM next) < room AS is_all FROM room
  ), claimed AS (
    UPDATE tasks SET status = 'Sent', send_id = gen_random_uuid(), sends = sends + 1, sent_at = (SELECT at FROM locked), taken_by = NULL, lane = NULL
    WHERE id = ANY(ARRAY(
      SELECT id FROM tasks WHERE ${IS_STILL_READY} AND id = ANY(ARRAY(SELECT id FROM next WHERE (SELECT is_served FROM served))) FOR UPDATE SKIP LOCKED))
    RETURNING ${SENT.columns}
  )
  SELECT ${SENT.asked}, NULL::float8 AS "nextRoomInMs", false AS "keepsWorkers", NULL::int AS "maxRunning", 0 AS "roomAhead", NOT is_plain OR NOT is_served AS "isRefused", is_all AS "isAll"
  FROM plain CROSS JOIN served LEFT JOIN ${SENT.from} ON true ORDER BY ${ORDER}`);
