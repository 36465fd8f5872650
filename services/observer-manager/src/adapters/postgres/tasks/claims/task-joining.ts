import { prepared } from "../../statements/prepared.ts";
import { ORDER, POOL_IS_MINE, SENT, UNHURT } from "./claim-terms.ts";
import { claimsLately, isLately } from "./claims-lately.ts";

/** Claims more to travel with what was claimed just before; the rate of its type holds as ever, and is counted as in CLAIM. */
interface Joining {
  /** How many the `max_running` of type `l` leaves room for, as SQL. */
  room: string;
  /** Which of the Ready tasks may join, as SQL. */
  which: string;
  sentAt: string;
  lane: string;
  /** Further steps, once the row of the type is locked; and how many may join by these, with a limit or without. */
  steps?: string;
  most?: string;
}

/**
 * Claims $3 of pool $1 and type $2 at most. Index: tasks_ready_of_type. A task's place says which lane it joins, and is looked up in an
 * object: a join compared thousands with thousands.
 */
const joiningFor = ({ room, which, sentAt, lane, steps = "", most = "$3::int" }: Joining): string =>
  prepared(`
  WITH mine AS MATERIALIZED (
    SELECT ${POOL_IS_MINE} AS is_mine
  ), limits AS MATERIALIZED (
    SELECT l.* FROM task_types l WHERE (SELECT is_mine FROM mine) AND l.type = $2 FOR UPDATE OF l
  ), locked AS MATERIALIZED (
    SELECT clock_timestamp() AS at, (SELECT is_mine FROM mine) AS is_mine, (SELECT count(*) FROM limits) AS limited
  )${steps}, room AS MATERIALIZED (
    SELECT CASE WHEN NOT locked.is_mine THEN 0 ELSE greatest(0, least(${most}, (
      SELECT CASE WHEN l.paused THEN 0 ELSE least(${room}, l.rate_per_second - ${claimsLately("l", "locked.at")}) END FROM limits l))) END AS room
    FROM locked
  ), next AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY ${ORDER}) AS place FROM (
      SELECT id, priority, due_at FROM tasks WHERE pool = $1 AND type = $2 AND status = 'Ready' AND ${which}
      ORDER BY ${ORDER} LIMIT (SELECT room FROM room) FOR UPDATE SKIP LOCKED) ready
  ), places AS MATERIALIZED (
    SELECT jsonb_object_agg(id, place - 1) AS of_ids FROM next
  ), claimed AS (
    UPDATE tasks t SET status = 'Sent', send_id = gen_random_uuid(), sends = sends + 1, taken_by = NULL, sent_at = ${sentAt}, lane = ${lane}
    WHERE t.id = ANY(ARRAY(SELECT id FROM next))
    RETURNING ${SENT.columns}
  ), counted AS (
    UPDATE task_types l SET (claimed_at, claimed) = (
      SELECT coalesce(array_agg(c.at), '{}') || locked.at, coalesce(array_agg(c.count), '{}') || n.count
      FROM unnest(t.claimed_at, t.claimed) AS c (at, count) WHERE ${isLately("c.at", "locked.at")})
    FROM limits t, locked, (SELECT count(*)::int AS count FROM claimed) n
    WHERE l.type = t.type AND t.rate_per_second IS NOT NULL AND n.count > 0
  )
  SELECT ${SENT.asked} FROM ${SENT.from} ORDER BY ${ORDER}`);

/**
 * They go to one call with $4, each with a place of its own under the limit: with it they make the calls that the window had room for. What
 * goes alone is left out: each would take a worker that nobody has counted.
 */
export const COMPANIONS = joiningFor({
  room: `l.max_running - (SELECT coalesce(sum(f.tasks), 0)::int FROM locked k, unacked_tasks_held('', ARRAY[$2]) f WHERE k.limited > 0)`,
  which: `${UNHURT} AND crashes = 0`,
  sentAt: "coalesce((SELECT sent_at FROM tasks WHERE id = $4), (SELECT at FROM locked))",
  lane: "NULL",
});

/**
 * They join the lanes $4, by their places $5, of which there are $3: each is done after the one before, so that the limit counts none of
 * them. They join no lane whose first is not in flight any more (cancelled, say): another may have been claimed in its place, in any pool.
 * A lock reads a row as it is now, not as it was before the type's was locked; whoever has one of them just now may be about to end it.
 */
export const JOINERS = joiningFor({
  steps: `, firsts AS MATERIALIZED (
    SELECT id FROM tasks WHERE (SELECT is_mine FROM locked) AND id = ANY($4::uuid[]) AND lane = id AND status IN ('Sent', 'Running')
    FOR SHARE SKIP LOCKED
  ), lanes AS MATERIALIZED (
    SELECT array_agg(lane ORDER BY place) AS of_places, count(*)::int AS count
    FROM (SELECT ($4::uuid[])[1 + turn] AS lane, place FROM unnest($5::int[]) WITH ORDINALITY AS turns (turn, place)) t
    WHERE (lane IN (SELECT id FROM firsts)) IS TRUE
  )`,
  most: "(SELECT count FROM lanes)",
  room: "$3",
  which: "sends = 0 AND interruptions = 0 AND crashes = 0",
  sentAt: "(SELECT at FROM locked)",
  lane: "(SELECT of_places FROM lanes)[1 + ((SELECT of_ids FROM places) ->> t.id::text)::int]",
});
