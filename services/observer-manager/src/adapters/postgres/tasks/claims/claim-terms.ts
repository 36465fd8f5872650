import { MAX_CLAIM_BYTES } from "../../statements/claim-bytes.ts";
import { bytesOfAll } from "../../statements/page-bytes.ts";

/* What the statements that claim tasks have in common. */

/** Of a row of task_types: a claim has to count what is in flight of it, or may take none. */
export const IS_LIMITED = "(paused OR max_running IS NOT NULL OR rate_per_second IS NOT NULL OR min_running > 0)";

/** How many workers the tasks \`t\` in flight take, as \`unacked_tasks_held\` has it: those of a lane one, as they run in turn. */
export const COUNTED = "count(*) FILTER (WHERE t.lane IS NULL) + count(DISTINCT t.lane) FILTER (WHERE t.lane IS NOT NULL)";

/** The key space of advisory locks on pools of tasks; any number, the same for all managers. */
const LOCK_SPACE = 7_027;
/** Whether this claim is the one of pool $1 just now, until its transaction ends: one for its services at a time. */
export const POOL_IS_MINE = `pg_try_advisory_xact_lock(${LOCK_SPACE}, hashtext($1))`;

/**
 * Whether what was looked at may be claimed still, as SQL, where it is locked: `replace` may have moved it to another pool while the claim waited for
 * limits. `IS TRUE` keeps the planner from looking for it by its pool: rows are named by their ids.
 */
export const IS_STILL_READY = "status = 'Ready' AND (pool = $1) IS TRUE";

/** Whose turn it is. Indexes: tasks_ready, tasks_ready_of_type. */
export const ORDER = "priority DESC, due_at, id";

/**
 * Whether it may be one of many in a call, as SQL: it was never interrupted, and of its messages fewer than so many came back from a service that has
 * gone. That may have begun it: under load a start is told 50 ms late.
 */
export const UNHURT = "interruptions = 0 AND coalesce((story->>'handedOn')::int, 0) < 3";
/** Of calls for a hundred a claim may have thousands of tasks, with 256 KiB each. */
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
