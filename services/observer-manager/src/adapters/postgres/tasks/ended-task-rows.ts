import type { TaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";

export const ENDED = `id, type, params, pool, priority, status, due_at, max_attempts, failures, interruptions, crashes, sends, run_id,
  service_id, service_name, started_at, output, last_error, created_at, ended_at, key, story, taken_by, told_send, parent_id, flow_id, flow_ref`;

/** What a statement adds to the figures of its types. @param what the column that counts the rows of `from` */
export const counted = (what: "failed" | "cancelled" | "retried", from: string): string =>
  `counted AS (INSERT INTO task_figure_deltas (type, pool, ${what}) SELECT type, pool, count(*) FROM ${from} GROUP BY 1, 2)`;

/**
 * Notes ends of tasks of flows, which somebody else follows up (flow-follow-store.ts). @param of `from` names the rows; the
 * others are SQL on them
 */
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
    FROM ${of.from} WHERE flow_id IS NOT NULL${of.where === undefined ? "" : ` AND ${of.where}`} RETURNING 1)`;

/** Ends tasks in the books, without an end that is told. @param of `error` is SQL on a row of tasks */
const endedByBooks = (of: {
  status: "Failed" | "Cancelled";
  figure: "failed" | "cancelled";
  error: string;
  story?: string;
}): string => `
  WITH gone AS (DELETE FROM tasks WHERE id = ANY($1) RETURNING *), ${counted(of.figure, "gone")},
  ${noted({ from: "gone", status: `'${of.status}'`, output: "NULL", error: of.error })}
  INSERT INTO ended_tasks (${ENDED})
  SELECT id, type, params, pool, priority, '${of.status}', due_at, max_attempts, failures, interruptions, crashes, sends, run_id,
         service_id, service_name, started_at, NULL, ${of.error}, created_at, unacked_now(), key, ${of.story ?? "story"}, taken_by, told_send, parent_id, flow_id, flow_ref FROM gone`;

const IS_CANCELLED = { status: "Cancelled", figure: "cancelled", error: "last_error" } as const;

/** Ends what was to be cancelled, and nobody runs any more. */
export const CANCELLED = endedByBooks(IS_CANCELLED);

/** Cancels by hand what waits, or was sent. $2: what its story says of that. */
export const CANCELLED_BY = endedByBooks({ ...IS_CANCELLED, story: "coalesce(story, '{}') || $2::jsonb" });

/** $2: the error. */
export const FAILED_BY_CRASHES = endedByBooks({ status: "Failed", figure: "failed", error: "$2::jsonb" });

/** After so many a task is Failed. */
export const MAX_CRASHES = 3;

const TOO_MANY_CRASHES = {
  name: "TaskCrashesError",
  message: `it ran in ${MAX_CRASHES} services that ended, or were cut off, while they had it. It is not given to another`,
};

export const failByCrashes = (tx: EntityManager, tasks: TaskId[]): Promise<unknown> =>
  tx.query(FAILED_BY_CRASHES, [tasks, JSON.stringify(TOO_MANY_CRASHES)]);

/**
 * For a task that nobody runs. If it was cancelled, the params that wait came after the cancel, which dropped those before: the task goes
 * on with these, and has not failed yet.
 */
export const NEXT_IF_CANCELLED = `
  params = CASE WHEN t.cancel_requested_at IS NULL THEN t.params ELSE coalesce(t.next_params, t.params) END,
  next_params = CASE WHEN t.cancel_requested_at IS NULL THEN t.next_params END,
  failures = CASE WHEN t.cancel_requested_at IS NULL OR t.next_params IS NULL THEN t.failures ELSE 0 END,
  cancel_requested_at = CASE WHEN t.next_params IS NULL THEN t.cancel_requested_at END`;
