import { counted, ENDED, noted } from "../tasks/ended-task-rows.ts";

/** Statements that follow up ends of tasks of flows; each is for a whole chunk. */

/** Indexes: flow_ends_pkey, flows_to_cancel. */
export const HAS_WORK = `
  SELECT EXISTS (SELECT FROM flow_ends ORDER BY id LIMIT 1)
    OR EXISTS (SELECT FROM flows WHERE cancel_requested_at IS NOT NULL AND NOT cancel_ordered)`;

/** The flows of the first ends, without those in $2; `isLocked`: this transaction has the lock. Indexes: flow_ends_pkey, flows_pkey. */
export const LOCK_FLOWS = `
  WITH first AS MATERIALIZED (
    SELECT DISTINCT flow_id AS id FROM (SELECT flow_id FROM flow_ends WHERE flow_id <> ALL($2::uuid[]) ORDER BY id LIMIT $1) ends
  ), locked AS (
    SELECT id, cancel_requested_at IS NOT NULL AS cancelling FROM flows WHERE id = ANY(ARRAY(SELECT id FROM first))
    ORDER BY id FOR UPDATE SKIP LOCKED)
  SELECT id, l.cancelling IS NOT NULL AS "isLocked", coalesce(l.cancelling, false) AS cancelling FROM first LEFT JOIN locked l USING (id)`;

/**
 * A result that is longer than maxOutputBytes is a failure if a follower was to be given it. Indexes: flow_ends_of_flow, flow_tasks_pkey.
 */
export const ENDS = `
  SELECT e.id, e.flow_id AS "flowId", e.ref, e.reason, e.passed, t.followers, t.on_failure AS "onFailure", l.is_too_large AS "isTooLarge",
    CASE WHEN l.is_too_large THEN 'Failed' ELSE e.status END AS status
  FROM flow_ends e JOIN flow_tasks t USING (flow_id, ref)
  CROSS JOIN LATERAL (
    SELECT coalesce(e.status = 'Completed' AND t.followers > 0 AND octet_length(e.output) > t.max_output_bytes, false) AS is_too_large) l
  WHERE e.flow_id = ANY($1) ORDER BY e.id LIMIT $2`;

export const SETTLE = `
  UPDATE flow_tasks t SET status = CASE WHEN u.is_too_large THEN 'Failed' ELSE e.status END,
    output = CASE WHEN e.status = 'Completed' AND NOT u.is_too_large THEN e.output END,
    error = CASE
      WHEN u.is_too_large THEN jsonb_build_object('name', 'ResultTooLargeError', 'message',
        format('its result has %s bytes as JSON; %s may be given to what comes after it (maxOutputBytes)', octet_length(e.output), t.max_output_bytes))
      WHEN e.status <> 'Completed' THEN e.error END,
    reason = e.reason, ended_at = e.ended_at
  FROM flow_ends e JOIN unnest($1::bigint[], $2::boolean[]) AS u (id, is_too_large) USING (id)
  WHERE e.id = ANY($1::bigint[]) AND t.flow_id = e.flow_id AND t.ref = e.ref`;

/** With the last of its tasks a flow is over. */
export const COUNT = `
  UPDATE flows f SET completed = n.completed, failed = n.failed, cancelled = n.cancelled, status = n.status,
    reason = CASE WHEN n.status <> 'Completed' THEN n.reason END, ended_at = CASE WHEN n.status <> 'Running' THEN unacked_now() END
  FROM (
    SELECT c.*, CASE
        WHEN c.completed + c.failed + c.cancelled < c.total THEN 'Running'
        WHEN c.is_cancelled AND c.completed < c.total THEN 'Cancelled'
        WHEN c.reason IS NOT NULL AND NOT c.is_cancelled THEN 'Failed'
        ELSE 'Completed' END AS status
    FROM (
      SELECT f.id, f.total, f.cancel_requested_at IS NOT NULL AS is_cancelled, f.completed + u.completed AS completed,
             f.failed + u.failed AS failed, f.cancelled + u.cancelled AS cancelled, coalesce(f.reason, u.reason) AS reason
      FROM flows f JOIN unnest($1::uuid[], $2::int[], $3::int[], $4::int[], $5::text[]) AS u (id, completed, failed, cancelled, reason)
        USING (id)) c) n
  WHERE f.id = n.id RETURNING f.id, f.status`;

/** The tasks directly after these ends, from where the look before stopped. Index: flow_edges_pkey. */
export const FOLLOWERS = `
  SELECT u.flow_id AS "flowId", u.after, t.ref, t.task_id AS "taskId", t.waiting
  FROM unnest($1::uuid[], $2::text[], $3::int[], $4::int[]) AS u (flow_id, after, passed, count)
  CROSS JOIN LATERAL (
    SELECT f.ref FROM flow_edges f WHERE f.flow_id = u.flow_id AND f.after = u.after ORDER BY f.ref OFFSET u.passed LIMIT u.count) e
  JOIN flow_tasks t ON t.flow_id = u.flow_id AND t.ref = e.ref`;

export const WAITING = `
  UPDATE flow_tasks t SET waiting = u.waiting FROM unnest($1::uuid[], $2::text[], $3::int[]) AS u (flow_id, ref, waiting)
  WHERE t.flow_id = u.flow_id AND t.ref = u.ref`;

/**
 * A task is due from now on: it could not have begun before. Only its start says whether it has to wait: `due_at` is from its creation, by
 * a clock that may have been set back since. Indexes: tasks_pkey, flow_tasks_pkey.
 */
export const UNLOCK = `
  WITH unlocked AS (
    UPDATE tasks t SET (status, due_at) = (
      SELECT CASE WHEN f.start_at > unacked_now() THEN 'Scheduled' ELSE 'Ready' END, greatest(f.start_at, unacked_now())
      FROM flow_tasks f WHERE f.flow_id = t.flow_id AND f.ref = t.flow_ref)
    WHERE id = ANY($1) AND status = 'Blocked' RETURNING id)
  SELECT id FROM unlocked`;

/**
 * Cancels some of these for the reasons $2: they have no end of their own, and nothing that comes after them may run. Index: tasks_pkey.
 * @param which of the rows `t`
 */
const cancelFor = (which: string): string => `
  WITH u AS (SELECT * FROM unnest($1::uuid[], $2::text[]) AS u (task_id, flow_reason)
  ), gone AS (
    DELETE FROM tasks t USING u WHERE t.id = u.task_id AND t.id = ANY($1) AND ${which} RETURNING t.*, u.flow_reason
  ), ${counted("cancelled", "gone")},
  ${noted({ from: "gone", status: "'Cancelled'", output: "NULL", error: "last_error", reason: "flow_reason" })},
  kept AS (
    INSERT INTO ended_tasks (${ENDED})
    SELECT id, type, params, pool, priority, 'Cancelled', due_at, max_attempts, failures, interruptions, crashes, sends, run_id,
           service_id, service_name, started_at, NULL, last_error, created_at, unacked_now(), key,
           coalesce(story, '{}') || jsonb_build_object('flowReason', flow_reason), taken_by, told_send, parent_id, flow_id, flow_ref FROM gone)
  SELECT id FROM gone`;

/** Cancels what comes after something that failed. */
export const CANCEL_BLOCKED = cancelFor("t.status = 'Blocked'");
/** Cancels what does not run, with the whole flow. What runs is told to end. */
export const CANCEL_IDLE = cancelFor("t.status <> 'Running'");

export const DROP_ENDS = "DELETE FROM flow_ends WHERE id = ANY($1::bigint[])";
export const PASSED =
  "UPDATE flow_ends e SET passed = u.passed FROM unnest($1::bigint[], $2::int[]) AS u (id, passed) WHERE e.id = u.id AND e.id = ANY($1::bigint[])";

/** The next flow behind $1. Index: flows_to_cancel. */
export const LOCK_TO_CANCEL = `
  SELECT id, reason FROM flows WHERE cancel_requested_at IS NOT NULL AND NOT cancel_ordered AND id > $1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`;
/** What would begin next comes first, or a worker would begin it meanwhile; what is Blocked begins no more, and comes last. Index: tasks_of_flow. */
export const TO_CANCEL = `
  SELECT id FROM tasks WHERE flow_id = $1 AND cancel_requested_at IS NULL
  ORDER BY array_position('{Sent,Ready,Scheduled,Running,Blocked}'::text[], status) LIMIT $2`;
/** Locks in id order, like everybody who cancels many. Index: tasks_pkey. */
export const LOCK_TASKS = `
  SELECT id, status, pool, send_id AS "sendId" FROM tasks WHERE id = ANY($1) AND cancel_requested_at IS NULL ORDER BY id FOR UPDATE`;
export const CANCEL_ORDERED = "UPDATE flows SET cancel_ordered = true WHERE id = $1";

/** Counts by whole days (UTC), as ended tasks are dropped: no task leads to a flow that is gone. */
const IS_OLD = "ended_at < date_trunc('day', unacked_now() - $1::float8 * interval '1 millisecond', 'UTC')";

/**
 * Deletes the oldest, with about 5,000 tasks together, but one flow at least: a large one has ten thousand tasks and fifty thousand
 * edges. Index: flows_by_end.
 */
export const FORGET = `
  WITH oldest AS (
    SELECT id, sum(total) OVER (ORDER BY ended_at, id) - total AS before FROM (
      SELECT id, total, ended_at FROM flows WHERE ${IS_OLD}
      ORDER BY ended_at, id LIMIT $2) found
  ), old AS (
    SELECT id FROM flows WHERE id = ANY(ARRAY(SELECT id FROM oldest WHERE before < 5000))
      AND ${IS_OLD} FOR UPDATE SKIP LOCKED
  ), ends AS (DELETE FROM flow_ends WHERE flow_id = ANY(ARRAY(SELECT id FROM old))
  ), edges AS (DELETE FROM flow_edges WHERE flow_id = ANY(ARRAY(SELECT id FROM old))
  ), steps AS (DELETE FROM flow_tasks WHERE flow_id = ANY(ARRAY(SELECT id FROM old))
  ), gone AS (DELETE FROM flows WHERE id = ANY(ARRAY(SELECT id FROM old)) RETURNING id)
  SELECT count(*)::int AS count FROM gone`;
