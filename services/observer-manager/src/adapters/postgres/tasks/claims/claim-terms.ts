import { MAX_CLAIM_BYTES } from "../../statements/claim-bytes.ts";
import { bytesOfAll } from "../../statements/page-bytes.ts";

/* What the statements that claim tasks have in common. */

/** Whether a row of task_types limits claims: they have to count what is in flight of it, or may take none. */
export const IS_LIMITED = "(paused OR max_running IS NOT NULL OR rate_per_second IS NOT NULL OR min_running > 0)";

/** How many workers the tasks `t` in flight take, as in `unacked_tasks_held`: those of a lane take one, as they run in turn. */
export const COUNTED = "count(*) FILTER (WHERE t.lane IS NULL) + count(DISTINCT t.lane) FILTER (WHERE t.lane IS NOT NULL)";

/** The key space of advisory locks on pools of tasks; any number, the same for all managers. */
const LOCK_SPACE = 7_027;
/** Whether this claim has pool $1 until its transaction ends: one claim for its services at a time. */
export const POOL_IS_MINE = `pg_try_advisory_xact_lock(${LOCK_SPACE}, hashtext($1))`;

/**
 * Whether a task that was found may still be claimed once it is locked, as SQL: `replace` may have moved it to another pool while the claim
 * waited for limits. `IS TRUE` keeps the planner from looking for it by its pool: rows are named by their ids.
 */
export const IS_STILL_READY = "status = 'Ready' AND (pool = $1) IS TRUE";

/** Whose turn it is. Indexes: tasks_ready, tasks_ready_of_type. */
export const ORDER = "priority DESC, due_at, id";

/**
 * Whether a task may share a call with others, as SQL: it was never interrupted, and fewer than three of its messages came back from a
 * service that has gone. Such a service may have begun it: under load a start is told 50 ms late.
 */
export const UNHURT = "interruptions = 0 AND coalesce((story->>'handedOn')::int, 0) < 3";
/** With calls for a hundred a claim may have thousands of tasks, with 256 KiB each. */
export const WITHIN = `CASE WHEN bytes_before < ${MAX_CLAIM_BYTES} THEN params END AS params, bytes_before >= ${MAX_CLAIM_BYTES} AS "isBeyond"`;
const PARAMS_BYTES = bytesOfAll(["params"]);
/** What is told of a task that was sent, as SQL: which columns it is read from, and how; what is beyond is to be given back. */
export const SENT = {
  from: `(SELECT *, sum(${PARAMS_BYTES}) OVER (ORDER BY ${ORDER} ROWS UNBOUNDED PRECEDING) - (${PARAMS_BYTES}) AS bytes_before FROM claimed) claimed`,
  columns:
    "id, send_id, type, params, failures, max_attempts, crashes, interruptions, sends, priority, due_at, lane, flow_id, flow_ref, story",
  asked: `id AS "taskId", send_id AS "sendId", type, ${WITHIN}, failures, max_attempts AS "maxAttempts", crashes > 0 AS alone, sends,
    ${UNHURT} AS unhurt, lane, flow_id AS "flowId", flow_ref AS "flowRef"`,
};
