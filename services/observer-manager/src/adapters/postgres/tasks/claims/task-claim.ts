import { prepared } from "../../statements/prepared.ts";
import { isServed } from "../task-services.ts";
import { IS_LIMITED, IS_STILL_READY, ORDER, POOL_IS_MINE, SENT, UNHURT, WITHIN } from "./claim-terms.ts";
import { APART, claimsLately, isLately, lastOf } from "./claims-lately.ts";

/**
 * The types $4, whose number PostgreSQL cannot see when it plans. Otherwise it would take a plan for just these to be cheaper than one for
 * any, each time; and planning takes longer than executing.
 */
const TYPES = "(SELECT types FROM asked)::text[]";
/** The time of this claim. */
export const AT = "(SELECT at FROM locked)";

/** Where the claim for services and that of a taker differ, as SQL. */
export interface Claimant {
  /** Whether it may claim in pool $1 just now. */
  isMine: string;
  /** How many of $3 workers are kept for a type that wants `wanted`, if those before it want `before`. */
  kept(wanted: string, before: string): string;
  /** How many workers the tasks in flight of a type `f` take; `calls` is what this needs joined, from `asked` and `held`. */
  sent: string;
  calls: string;
  /** Further parameters that `asked` has. */
  asks?: string;
  /** How many tasks it may claim in all; `in_flight`, `kept` and `used` are those of the pool's services. */
  room: string;
  /**
   * Passes what somebody else has locked, or has claimed while this claim waited, and takes what comes after it: for callers that do not
   * come again. It costs a lock for each row that is looked at, and those are as many of each type as there is room in all.
   */
  passesLocked?: boolean;
  /** What a claimed task's columns are set to. */
  set: string;
  /** Further steps of the statement. */
  steps: string;
  /**
   * The parameters with the times before which nothing is Ready, and nothing was sent, if they are known (claim-floors.ts); and the
   * types of which something is Ready from a later time on, with these times.
   */
  floors?: { ready: string; sent: string; types: string; readyOfTypes: string };
  returning: string;
}

/** The types $5 take batches of $6. */
const BATCHES = ", $5::text[] AS batched, $6::int[] AS sizes";
/** How many calls the tasks in flight make, for the types with batches. If none of these is in flight, nothing is read. */
const callsOf = (sentFrom = ""): string => `
    LEFT JOIN (
      SELECT type, sum(ceil(n::numeric / size))::int AS calls FROM (
        SELECT t.type, b.size, count(*) AS n FROM unnest((SELECT batched FROM asked), (SELECT sizes FROM asked)) AS b (type, size) JOIN tasks t USING (type)
        WHERE t.pool = $1 AND t.status IN ('Sent', 'Running') AND t.lease_until IS NULL ${sentFrom}
          AND EXISTS (SELECT FROM held WHERE pool = $1 AND type = ANY((SELECT batched FROM asked)::text[]))
        GROUP BY t.type, b.size, t.sent_at) rounds
      GROUP BY type) c ON c.type = f.type AND f.pool = $1`;

/**
 * The text is in test/fixtures/statements/claim.sql, and with all that it may have in claim-calls-from.sql.
 *
 * Takes $2 tasks (for services: the window, less what is in flight) of pool $1 and the types $4. It is one statement, which waits for
 * nobody but another claim, so that a manager that is frozen holds nothing up (docs/decisions/0035-task-limits.md).
 *
 * - `limits` locks the rows of the limited types that wait here: claims of one type, in whichever pool, come one after the other, and
 *   `unacked_tasks_held`, called after that, sees what the one before has committed. Which types are limited does not change
 *   meanwhile: who changes that waits for the table, on which a claim has a lock from before its snapshot on.
 * - If this claim can reach no limit, and all that is next is of these types, it reads the rows in order (tasks_ready); else type by type,
 *   as many as the type has room for (tasks_ready_of_type), so that those of a type without room, or which nobody here has, are not looked
 *   at.
 * - Rows are chosen before any is locked: what somebody else has locked is left to a later claim, and nothing of others is locked, or
 *   claimed in its place.
 * - A question whether there is any has an order, too: where nobody waits, and statistics know of many, all rows would be read.
 * - Each task that is claimed of a type with `max_running` begins a lane, which others may join (JOINERS); but not one that was sent
 *   before, as those who joined it then may still be in flight, and it would not be counted beside them.
 * - Rows are named by an array, and never by a join: see postgres-command-store.ts.
 * - The time until there is room again counts from the end of the claim: from its begin, as that of its tasks does, each second would be
 *   longer by the claim.
 */
export const claimFor = (claimant: Claimant): string => {
  const { isMine, kept, sent, calls, room, set, steps, returning, floors, asks = "", passesLocked = false } = claimant;
  const isReady = floors === undefined ? "status = 'Ready'" : `status = 'Ready' AND due_at >= ${floors.ready}::timestamptz`;
  const isReadyOf = (from: string) => (floors === undefined ? "status = 'Ready'" : `status = 'Ready' AND due_at >= ${from}`);
  const withFloor =
    floors === undefined
      ? ""
      : " LEFT JOIN unnest((SELECT floored FROM asked), (SELECT ready_from FROM asked)) AS b (type, ready_from) USING (type)";
  const readyFrom = floors === undefined ? "" : ", coalesce(b.ready_from, '-infinity') AS ready_from";
  const held = "CASE WHEN locked.is_mine THEN $1 END, locked.counted";
  const flight =
    floors === undefined ? `unacked_tasks_held(${held})` : `unacked_tasks_held_since(${held}, ${floors.sent}::timestamptz)`;
  const floored =
    floors === undefined ? "" : `, ${floors.types}::text[] AS floored, ${floors.readyOfTypes}::timestamptz[] AS ready_from`;
  return prepared(`
  WITH asked AS MATERIALIZED (
    SELECT $4::text[] AS types${asks}${floored}
  ), mine AS MATERIALIZED (
    SELECT ${isMine} AS is_mine
  ), limits AS MATERIALIZED (
    SELECT l.* FROM task_types l${withFloor}
    WHERE (SELECT is_mine FROM mine) AND l.type = ANY(${TYPES}) AND ${IS_LIMITED} AND (l.min_running > 0
      OR (SELECT true FROM tasks t WHERE t.pool = $1 AND t.type = l.type AND t.${isReadyOf("coalesce(b.ready_from, '-infinity')")} ORDER BY ${ORDER} LIMIT 1))
    ORDER BY l.type FOR UPDATE OF l
  ), locked AS MATERIALIZED (
    SELECT clock_timestamp() AS at, coalesce(array_agg(type) FILTER (WHERE max_running IS NOT NULL), '{}') AS counted, (SELECT is_mine FROM mine) AS is_mine FROM limits
  ), held AS MATERIALIZED (
    SELECT f.* FROM locked CROSS JOIN ${flight} f
  ), flight AS MATERIALIZED (
    SELECT f.*, ${sent} AS sent FROM held f${calls}
  ), wants AS MATERIALIZED (
    SELECT l.*, locked.at, ${claimsLately("l", "locked.at")} AS lately,
      coalesce(${lastOf("l.claimed_at", "locked.at")} > locked.at - ${APART}, false) AS is_too_soon,
      (SELECT coalesce(sum(f.count), 0) FROM flight f WHERE f.type = l.type)::int AS everywhere,
      (SELECT coalesce(sum(f.sent), 0) FROM flight f WHERE f.type = l.type AND f.pool = $1)::int AS here,
      CASE WHEN l.paused OR l.min_running = 0 OR NOT ${isServed("$1", "l.type")} THEN 0 ELSE l.min_running END AS wanted
    FROM limits l, locked
  ), types AS MATERIALIZED (
    SELECT w.*, CASE WHEN paused OR is_too_soon THEN 0
        ELSE greatest(0, coalesce(least(max_running - everywhere, rate_per_second - lately), 1000000)) END AS room,
      ${kept("wanted", "coalesce(sum(wanted) OVER (ORDER BY type ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)")}::int AS kept
    FROM wants w
  ), pool AS MATERIALIZED (
    SELECT CASE WHEN NOT locked.is_mine THEN 0 ELSE greatest(0, ${room})::int END AS room, sums.kept
    FROM locked, LATERAL (SELECT
      (SELECT coalesce(sum(sent), 0) FROM flight WHERE pool = $1) AS in_flight,
      (SELECT coalesce(sum(kept), 0) FROM types) AS kept,
      (SELECT coalesce(sum(least(here, kept)), 0) FROM types) AS used) sums
  ), open AS MATERIALIZED (
    SELECT room, ${!passesLocked} AND kept = 0 AND NOT EXISTS (SELECT FROM types WHERE types.room < pool.room) AS may_be_plain FROM pool
  ), first AS MATERIALIZED (
    SELECT id, type FROM tasks WHERE pool = $1 AND ${isReady} ORDER BY ${ORDER}
    LIMIT (SELECT CASE WHEN may_be_plain THEN room ELSE 0 END FROM open)
  ), plain AS MATERIALIZED (
    SELECT may_be_plain AND NOT EXISTS (SELECT FROM first WHERE type <> ALL(${TYPES})) AS is_plain FROM open
  ), rooms AS MATERIALIZED (
    SELECT w.type, greatest(0, coalesce(t.kept - t.here, 0)) AS kept,
           least(coalesce(t.room, 1000000), pool.room + greatest(0, coalesce(t.kept - t.here, 0))) AS room${readyFrom}
    FROM pool, (SELECT DISTINCT unnest(${TYPES}) AS type WHERE NOT (SELECT is_plain FROM plain)) w LEFT JOIN types t USING (type)${withFloor}
  ), candidates AS MATERIALIZED (
    SELECT c.id, c.priority, c.due_at, c.place <= r.kept AS is_kept
    FROM rooms r, LATERAL (
      SELECT id, priority, due_at, row_number() OVER (ORDER BY ${ORDER}) AS place FROM (
        SELECT id, priority, due_at FROM tasks
        WHERE pool = $1 AND type = r.type AND ${isReadyOf("r.ready_from")} ORDER BY ${ORDER} LIMIT r.room ${passesLocked ? "FOR UPDATE SKIP LOCKED" : ""}) o) c
    WHERE r.room > 0
  ), claimed AS (
    UPDATE tasks SET send_id = gen_random_uuid(), sends = sends + 1, sent_at = ${AT}, ${set},
      lane = CASE WHEN sends = 0 AND EXISTS (SELECT FROM limits l WHERE l.type = tasks.type AND l.max_running IS NOT NULL) THEN id END
    WHERE id = ANY(ARRAY(
        SELECT id FROM tasks WHERE ${IS_STILL_READY} AND id = ANY(ARRAY(
          SELECT id FROM first WHERE (SELECT is_plain FROM plain)
          UNION ALL SELECT id FROM candidates WHERE is_kept
          UNION ALL (SELECT id FROM candidates WHERE NOT is_kept ORDER BY ${ORDER} LIMIT (SELECT room FROM pool))))
        FOR UPDATE SKIP LOCKED))
    RETURNING ${SENT.columns}, lease_until
  ), counted AS (
    UPDATE task_types l SET (claimed_at, claimed) = (
      SELECT coalesce(array_agg(c.at), '{}') || t.at, coalesce(array_agg(c.count), '{}') || n.count
      FROM unnest(t.claimed_at, t.claimed) AS c (at, count) WHERE ${isLately("c.at", "t.at")})
    FROM types t, (SELECT type, count(*)::int AS count FROM claimed GROUP BY type) n
    WHERE l.type = n.type AND t.type = n.type AND t.rate_per_second IS NOT NULL
    RETURNING l.type, l.claimed_at, l.claimed
  ), rates AS (
    SELECT t.at AS now, t.is_too_soon, t.rate_per_second, coalesce(c.claimed_at, t.claimed_at) AS claimed_at,
           coalesce(c.claimed, t.claimed) AS claimed
    FROM types t LEFT JOIN counted c USING (type) WHERE t.rate_per_second IS NOT NULL AND NOT t.paused
  ), next AS (
    SELECT min(extract(epoch FROM coalesce(used_up.at + interval '1 second',
        CASE WHEN is_too_soon THEN ${lastOf("claimed_at", "now")} + ${APART} END) - clock_timestamp()) * 1000)::float8 AS ms
    FROM rates, LATERAL (
      SELECT max(at) AS at FROM (
        SELECT c.at, sum(c.count) OVER (ORDER BY c.at DESC) AS since FROM unnest(claimed_at, claimed) AS c (at, count)
        WHERE ${isLately("c.at", "now")}) s
      WHERE since >= rate_per_second) used_up
  )${steps}
  SELECT id AS "taskId", send_id AS "sendId", type, ${WITHIN}, failures, flow_id AS "flowId", flow_ref AS "flowRef", next.ms AS "nextRoomInMs", ${returning}
  FROM next LEFT JOIN ${SENT.from} ON true ORDER BY ${ORDER}`);
};

/** For the services of pool $1, which have $3 workers and the types $4, with the window $2: one manager a pool at a time. */
const FOR_SERVICES: Claimant = {
  isMine: POOL_IS_MINE,
  kept: (wanted, before) => `greatest(0, least(${wanted}, $3::int - 1 - ${before}))`,
  sent: "f.count",
  calls: "",
  room: "CASE WHEN sums.kept = 0 THEN $2::int ELSE $3::int - sums.kept + sums.used END - sums.in_flight",
  set: "status = 'Sent', taken_by = NULL",
  steps: "",
  returning: `max_attempts AS "maxAttempts", crashes > 0 AS alone, sends, ${UNHURT} AS unhurt, lane,
    (SELECT kept > 0 FROM pool) AS "keepsWorkers",
    (SELECT l.max_running FROM limits l WHERE l.type = claimed.type) AS "maxRunning",
    ($2::int - (SELECT coalesce(sum(f.tasks), 0) FROM flight f WHERE f.pool = $1))::int AS "roomAhead"`,
};

export const CLAIM = claimFor(FOR_SERVICES);

/**
 * The same where types of this pool take batches ($5: these, $6: how many tasks one call takes): a call takes one worker, however
 * many tasks it has. What was claimed together, by its `sent_at`, makes as few calls as it can.
 */
const FOR_CALLS: Claimant = {
  ...FOR_SERVICES,
  sent: "coalesce(c.calls, f.count)",
  calls: callsOf(),
  asks: BATCHES,
};
export const CLAIM_CALLS = claimFor(FOR_CALLS);

/** The same, with looks that begin at the times $5 and $6, and for the types $7 at $8; with calls these are $7 to $10. */
export const CLAIM_FROM = claimFor({
  ...FOR_SERVICES,
  floors: { ready: "$5", sent: "$6", types: "$7", readyOfTypes: "$8" },
});
export const CLAIM_CALLS_FROM = claimFor({
  ...FOR_CALLS,
  calls: callsOf("AND t.sent_at >= $8::timestamptz"),
  floors: { ready: "$7", sent: "$8", types: "$9", readyOfTypes: "$10" },
});
