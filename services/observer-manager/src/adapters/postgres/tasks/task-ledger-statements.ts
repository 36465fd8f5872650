import { MAX_POSTPONE_MS } from "@unacked/contracts";
import { bucketInSql } from "../../../domain/tasks/running-times.ts";
import { prepared } from "../statements/prepared.ts";

/**
 * What the ledger writes: one statement for all starts, releases or ends of a batch. Each has the send id in its join, so that what is
 * told of an older send, or of a task that is over, changes nothing. Index: tasks_pkey.
 *
 * Rows of `tasks` are named by an array first, and never by a join alone. A vacuum that finds the table empty lets PostgreSQL plan for one row,
 * however many come after it until the next: of 500 ends, each was compared with every task that waited. Ends, of which there are thousands, are joined by
 * a full join, which is never made by a loop through both: the array alone leaves a loop through all that are told, which PostgreSQL takes for short.
 */

/** Of a row `t` of tasks and what is told of it: of its current send. */
const CURRENT = "t.id = e.id AND t.send_id = e.send_id AND t.id = ANY($1)";

/** After so many a task is Failed. */
export const MAX_CRASHES = 3;

/** The run before has not ended, and its message is somebody else's now: an interruption; with its service, a crash. */
const FOLLOWED = "(t.status = 'Running' AND t.run_id <> e.run_id AND t.run_id IS DISTINCT FROM e.released)";
const CRASHED = `(${FOLLOWED} AND t.service_id IS DISTINCT FROM e.service_id)`;

const STARTED = "id, send_id, run_id, service_id, service_generation, service_name, released, interruptions, crashes";
const STARTED_ARRAYS =
  "$1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[], $7::uuid[], $8::int[], $9::int[]";

export const STARTS = prepared(`
  WITH started AS (
    UPDATE tasks t SET status = 'Running', run_id = e.run_id, service_id = e.service_id,
      service_generation = e.service_generation, service_name = e.service_name, started_at = now(),
      interruptions = t.interruptions + e.interruptions + ${FOLLOWED}::int,
      crashes = t.crashes + e.crashes + ${CRASHED}::int
    FROM unnest(${STARTED_ARRAYS}) AS e (${STARTED})
    WHERE ${CURRENT}
    RETURNING t.id, t.crashes, t.cancel_requested_at IS NOT NULL AS cancelling)
  SELECT * FROM started`);

/** Nobody runs it. What waits came after the cancel, which dropped what had waited before: it is what the task is now, and has not failed yet. */
export const NEXT_IF_CANCELLED = `
  params = CASE WHEN t.cancel_requested_at IS NULL THEN t.params ELSE coalesce(t.next_params, t.params) END,
  next_params = CASE WHEN t.cancel_requested_at IS NULL THEN t.next_params END,
  failures = CASE WHEN t.cancel_requested_at IS NULL OR t.next_params IS NULL THEN t.failures ELSE 0 END,
  cancel_requested_at = CASE WHEN t.next_params IS NULL THEN t.cancel_requested_at END`;

/**
 * It goes back to the queue, as it was Sent: nobody has it. What was cancelled is over then, as what is Sent is with its cancel: nobody may ever come
 * to take its message and hear of that. @returns what was cancelled, by the send that is no more; without `cancelling` newer params run
 */
export const RELEASES = `
  WITH released AS (
    UPDATE tasks t SET status = CASE WHEN t.cancel_requested_at IS NULL THEN 'Sent' ELSE 'Ready' END, sent_at = now(), run_id = NULL,
      send_id = CASE WHEN t.cancel_requested_at IS NULL THEN t.send_id END, ${NEXT_IF_CANCELLED}
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS e (id, send_id, run_id)
    WHERE ${CURRENT} AND t.status = 'Running' AND t.run_id = e.run_id
    RETURNING t.id, t.pool, t.crashes, t.status, e.send_id, t.cancel_requested_at IS NOT NULL AS cancelling)
  SELECT id, pool, crashes, send_id AS "sendId", cancelling FROM released WHERE status = 'Ready'`;

/** Nobody has its message: the books send it again. What had begun on a service that has gone was interrupted; what had not, as far as was told, is counted. */
export const RETURNS = `
  WITH back AS (
    UPDATE tasks t SET status = 'Ready', send_id = NULL, run_id = NULL, ${NEXT_IF_CANCELLED},
      story = CASE WHEN e.redelivered AND t.status = 'Sent' AND e.interruptions = 0
        THEN coalesce(t.story, '{}') || jsonb_build_object('handedOn', coalesce((t.story->>'handedOn')::int, 0) + 1) ELSE t.story END,
      interruptions = t.interruptions + e.interruptions + (e.redelivered AND t.status = 'Running')::int,
      crashes = t.crashes + e.crashes + (e.redelivered AND t.status = 'Running' AND t.service_id <> e.service_id)::int
    FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::uuid[], $5::int[], $6::int[])
      AS e (id, send_id, redelivered, service_id, interruptions, crashes)
    WHERE ${CURRENT}
    RETURNING t.id, t.crashes, t.cancel_requested_at IS NOT NULL AS cancelling)
  SELECT * FROM back`;

export const ENDED = `id, type, params, pool, priority, status, due_at, max_attempts, failures, interruptions, crashes, sends, run_id,
  service_id, service_name, started_at, output, last_error, created_at, ended_at, key, story, taken_by, told_send, parent_id, flow_id, flow_ref`;

/** What a statement adds to the figures of its types. @param what a column, of the rows of `from` */
export const counted = (what: "failed" | "cancelled" | "retried", from: string): string =>
  `counted AS (INSERT INTO task_figure_deltas (type, pool, ${what}) SELECT type, pool, count(*) FROM ${from} GROUP BY 1, 2)`;

/** What is over of a flow is followed up by somebody else (flow-follow-store.ts). @param from rows of it, with these in SQL */
export const noted = (of: {
  from: string;
  status: string;
  output: string;
  error: string;
  where?: string;
  reason?: string;
}): string =>
  `noted AS (INSERT INTO flow_ends (flow_id, ref, task_id, status, output, error, reason, ended_at)
    SELECT flow_id, flow_ref, id, ${of.status}, ${of.output}, (${of.error}) - 'stack', ${of.reason ?? "NULL"}, unacked_now()
    FROM ${of.from} WHERE flow_id IS NOT NULL${of.where === undefined ? "" : ` AND ${of.where}`})`;

export const FAILED_BY_CRASHES = `
  WITH gone AS (DELETE FROM tasks WHERE id = ANY($1) RETURNING *), ${counted("failed", "gone")},
  ${noted({ from: "gone", status: "'Failed'", output: "NULL", error: "$2::jsonb" })}
  INSERT INTO ended_tasks (${ENDED})
  SELECT id, type, params, pool, priority, 'Failed', due_at, max_attempts, failures, interruptions, crashes, sends, run_id,
         service_id, service_name, started_at, NULL, $2::jsonb, created_at, unacked_now(), key, story, taken_by, told_send, parent_id, flow_id, flow_ref FROM gone`;

/** What is taken away by hand: of what waits, or was sent. */
export const CANCELLED = `
  WITH gone AS (DELETE FROM tasks WHERE id = ANY($1) RETURNING *), ${counted("cancelled", "gone")},
  ${noted({ from: "gone", status: "'Cancelled'", output: "NULL", error: "last_error" })}
  INSERT INTO ended_tasks (${ENDED})
  SELECT id, type, params, pool, priority, 'Cancelled', due_at, max_attempts, failures, interruptions, crashes, sends, run_id,
         service_id, service_name, started_at, NULL, last_error, created_at, unacked_now(), key, story, taken_by, told_send, parent_id, flow_id, flow_ref FROM gone`;

const OVER = "('Completed', 'Failed', 'Cancelled')";
const UNKNOWN_TYPE_PAUSE = "interval '5 seconds'";

/** What its end adds to what is told of it; it waits no longer for what it waited for. `at` is its due time, and stands there. */
const STORY = `nullif((coalesce(t.story, '{}') - 'postponedFor' - 'until') || (coalesce(e.note::jsonb, '{}') - 'at')
  || CASE WHEN e.outcome <> 'postponed' THEN '{}' ELSE
       jsonb_build_object('postpones', coalesce((t.story->>'postpones')::int, 0) + 1) END, '{}')`;

/** When it goes on. The time that a service tells is no further away than a year: everybody who may write the state queue may tell any. */
const DUE = `CASE
        WHEN f.has_next THEN unacked_now()
        WHEN f.outcome = 'postponed' AND f.note ? 'at' 
          THEN least(to_timestamp((f.note->>'at')::float8 / 1000), unacked_now() + ${MAX_POSTPONE_MS} * interval '1 millisecond')
        WHEN f.outcome IN ('failed', 'postponed') THEN unacked_now() + f.retry_ms * interval '1 millisecond'
        WHEN f.outcome = 'unknown-type' THEN unacked_now() + ${UNKNOWN_TYPE_PAUSE} ELSE t.due_at END`;

/** Whose running time says something. */
const RAN = "outcome IN ('completed', 'failed')";

/** Rows `t` of tasks with what is told of their current sends. Whoever says of two tasks the send of the other is not `told`. */
const NO_LOOP = "FULL JOIN e ON e.id = t.id AND e.send_id = t.send_id";
const TOLD = "t.id IS NOT NULL AND e.id IS NOT NULL AS told";

const INTERRUPTED = `t.interruptions + e.interruptions + ${FOLLOWED}::int`;
const WITH_CRASHES = `t.crashes + e.crashes + ${CRASHED}::int`;
const TOLD_SEND = "CASE WHEN t.lease_until IS NULL THEN t.told_send ELSE t.send_id END";

/**
 * What nearly all ends are: completed, with nothing to add; without the lock before it, and the columns for all that may come of an
 * end, a fifth less. A task that has newer params is left alone, and so is what is told twice: of these, ENDS is asked. No task
 * stands twice among the ids. Which sends are meant is looked up in a hash, which `IS TRUE` keeps from being made a join.
 * @returns one row: which of them were current, null where all were, as nearly always; and whether one is a flow's
 */
export const COMPLETIONS = prepared(`
  WITH e AS (
    SELECT * FROM unnest(${STARTED_ARRAYS}, $10::text[], $11::float8[]) AS e (${STARTED}, output, took_ms)
  ), t AS (
    DELETE FROM tasks
    WHERE id = ANY($1::uuid[]) AND send_id IS NOT NULL
      AND ((id, send_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))) IS TRUE AND next_params IS NULL RETURNING *
  ), done AS MATERIALIZED (
    SELECT t.id, t.type, t.params, t.pool, t.priority, 'Completed' AS status, t.due_at, t.max_attempts, t.failures,
           ${INTERRUPTED} AS interruptions, ${WITH_CRASHES} AS crashes, t.sends, e.run_id, e.service_id, e.service_name,
           now() - e.took_ms * interval '1 millisecond' AS started_at, e.output, t.last_error, t.created_at, (SELECT unacked_now()) AS ended_at, t.key,
           CASE WHEN t.story IS NOT NULL THEN nullif(t.story - 'postponedFor' - 'until', '{}') END AS story, t.taken_by,
           ${TOLD_SEND} AS told_send, t.parent_id, t.flow_id, t.flow_ref, e.send_id, e.took_ms, ${TOLD}
    FROM t ${NO_LOOP}
  ), kept AS (
    INSERT INTO ended_tasks (${ENDED}) SELECT ${ENDED} FROM done WHERE told
  ), ${noted({ from: "done", status: "status", output: "output", error: "last_error", where: "told" })},
  counted AS (
    INSERT INTO task_figure_deltas (type, pool, completed, ran_ms, buckets)
    SELECT type, pool, count(*), sum(took_ms), array_agg(${bucketInSql("took_ms")}) FROM done WHERE told GROUP BY type, pool
  )
  SELECT coalesce(bool_or(flow_id IS NOT NULL), false) AS "hasFlowEnds",
         CASE WHEN count(*) < cardinality($1::uuid[]) THEN coalesce(array_agg(id), '{}') END AS some
  FROM done WHERE told`);

/**
 * One end a send. Where newer params of its key wait, the task is Ready with these; else where it goes on it is due again, after its
 * delay or at once. @returns what is over, or has completed and goes on with newer params
 */
export const ENDS = prepared(`
  WITH e AS (
    SELECT * FROM unnest(${STARTED_ARRAYS}, $10::text[], $11::text[], $12::text[], $13::bigint[], $14::float8[], $15::text[])
      AS e (${STARTED}, outcome, output, error, retry_ms, took_ms, note)
  ), t AS MATERIALIZED (
    SELECT * FROM tasks WHERE id = ANY($1::uuid[]) AND send_id = ANY($2::uuid[]) FOR UPDATE
  ), judged AS MATERIALIZED (
    SELECT t.id, t.type, t.params, t.next_params, t.key, t.pool, t.priority, t.due_at, t.max_attempts, t.sends, t.created_at,
           t.cancel_requested_at, t.next_params IS NOT NULL AS has_next, t.taken_by,
           ${TOLD_SEND} AS told_send,
           t.last_error, t.parent_id, t.flow_id, t.flow_ref, t.failures + (e.outcome = 'failed')::int AS failures,
           ${INTERRUPTED} + (e.outcome = 'crashed')::int AS interruptions,
           ${WITH_CRASHES} + (e.outcome = 'crashed')::int AS crashes,
           CASE WHEN t.story IS NOT NULL OR e.note IS NOT NULL THEN ${STORY} END AS story, e.note::jsonb AS note,
           e.send_id, e.run_id, e.service_id, e.service_name, e.outcome, e.output, e.error::jsonb AS error, e.retry_ms, e.took_ms,
           now() - e.took_ms * interval '1 millisecond' AS started_at, ${TOLD}
    FROM t ${NO_LOOP}
  ), fate AS (
    SELECT *, CASE
      WHEN has_next AND (outcome = 'completed' OR crashes < ${MAX_CRASHES}) THEN 'Ready'
      WHEN outcome = 'completed' THEN 'Completed'
      WHEN outcome = 'cancelled' OR cancel_requested_at IS NOT NULL THEN 'Cancelled'
      WHEN crashes >= ${MAX_CRASHES} THEN 'Failed'
      WHEN outcome = 'failed' AND retry_ms IS NULL THEN 'Failed'
      WHEN outcome IN ('failed', 'unknown-type', 'postponed') THEN 'Scheduled'
      ELSE 'Ready' END AS status FROM judged WHERE told
  ), gone AS (
    DELETE FROM tasks WHERE id = ANY(ARRAY(SELECT id FROM fate WHERE status IN ${OVER}))
  ), kept AS (
    INSERT INTO ended_tasks (${ENDED})
    SELECT id, type, params, pool, priority, status, due_at, max_attempts, failures, interruptions, crashes, sends, run_id,
           service_id, service_name, started_at, output, coalesce(error, last_error), created_at, unacked_now(), key, story, taken_by, told_send, parent_id, flow_id, flow_ref
    FROM fate WHERE status IN ${OVER}
  ), ${noted({ from: "fate", status: "status", output: "output", error: "coalesce(error, last_error)", where: `status IN ${OVER}` })},
  going_on AS (
    UPDATE tasks t SET status = f.status, params = CASE WHEN f.has_next THEN f.next_params ELSE t.params END,
      next_params = NULL, cancel_requested_at = CASE WHEN NOT f.has_next THEN t.cancel_requested_at END,
      failures = CASE WHEN f.has_next THEN 0 ELSE f.failures END, interruptions = f.interruptions,
      crashes = CASE WHEN f.has_next AND f.outcome <> 'crashed' THEN 0 ELSE f.crashes END,
      last_error = coalesce(f.error, t.last_error), send_id = NULL, run_id = NULL, started_at = f.started_at,
      service_id = f.service_id, service_name = f.service_name, lease_until = NULL, told_send = f.told_send,
      story = CASE WHEN f.outcome = 'postponed' THEN f.story || jsonb_build_object('until', ${DUE}) ELSE f.story END,
      due_at = ${DUE}
    FROM fate f WHERE t.id = f.id AND t.id = ANY(ARRAY(SELECT id FROM fate WHERE status NOT IN ${OVER}))
  ), counted AS (
    INSERT INTO task_figure_deltas (type, pool, completed, failed, cancelled, retried, ran_ms, buckets)
    SELECT type, pool, count(*) FILTER (WHERE outcome = 'completed'), count(*) FILTER (WHERE status = 'Failed'),
           count(*) FILTER (WHERE status = 'Cancelled'), count(*) FILTER (WHERE outcome = 'failed' AND status NOT IN ${OVER}),
           coalesce(sum(took_ms) FILTER (WHERE ${RAN}), 0), coalesce(array_agg(${bucketInSql("took_ms")}) FILTER (WHERE ${RAN}), '{}')
    FROM fate GROUP BY type, pool
  )
  SELECT id, send_id AS "sendId", status, flow_id IS NOT NULL AS "isOfFlow" FROM fate WHERE status IN ${OVER} OR outcome = 'completed'`);

/** What became of what its handler wanted to create; over or not. Indexes: tasks_pkey, ended_tasks_by_id. */
export const CHILDREN_TOLD = `
  WITH told AS (SELECT * FROM unnest($1::uuid[], $2::text[]) AS u (id, story)),
  live AS (UPDATE tasks t SET story = coalesce(t.story, '{}') || u.story::jsonb FROM told u WHERE t.id = u.id AND t.id = ANY($1))
  UPDATE ended_tasks t SET story = coalesce(t.story, '{}') || u.story::jsonb FROM told u WHERE t.id = u.id AND t.id = ANY($1)`;
