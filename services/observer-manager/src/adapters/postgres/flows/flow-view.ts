import {
  FLOW_TASK_MESSAGE_CHARS,
  type FlowStatusName,
  type FlowTaskView,
  type FlowView,
  type ON_FAILURE,
  type TaskStatus,
} from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { fromJsonText } from "../../../domain/json-text.ts";
import { shownTime, shownTimeOrNull } from "../../../domain/shown-time.ts";
import type { TypeStanding } from "../../../domain/tasks/task-limits.ts";
import { waitOfRow } from "../tasks/views/task-view.ts";

export interface FlowRow {
  id: string;
  name: string | null;
  status: FlowStatusName;
  run: number;
  reason: string | null;
  cancelling: boolean;
  total: number;
  completed: number;
  failed: number;
  cancelled: number;
  created_at: Date;
  ended_at: Date | null;
}

export const FLOW_COLUMNS = `id, name, status, run, reason, cancel_requested_at IS NOT NULL AND status = 'Running' AS cancelling,
  total, completed, failed, cancelled, created_at, ended_at`;

/** Index: flows_pkey. */
const FIND = `SELECT ${FLOW_COLUMNS} FROM flows WHERE id = $1`;

export async function findFlow(db: DataSource | EntityManager, id: string): Promise<FlowView | undefined> {
  const [row] = await db.query<FlowRow[]>(FIND, [id]);
  return row && toFlowView(row);
}

export function toFlowView(row: FlowRow): FlowView {
  const { id, name, status, cancelling, reason, run, total, completed, failed, cancelled } = row;
  return {
    id,
    name,
    status,
    cancelling,
    reason,
    run,
    tasks: { total, completed, failed, cancelled },
    createdAt: shownTime(row.created_at),
    endedAt: shownTimeOrNull(row.ended_at),
  };
}

export interface FlowTaskRow {
  place: number;
  ref: string;
  task_id: string;
  type: string;
  pool: string;
  after: string[];
  on_failure: (typeof ON_FAILURE)[number];
  max_output_bytes: number;
  run: number;
  waiting: number;
  lane: string | null;
  /** Null once it is over. */
  due_at: Date | null;
  until: string | null;
  status: TaskStatus;
  reason: string | null;
  error_name: string | null;
  error_message: string | null;
  started_at: Date | null;
  ended_at: Date | null;
  output: string | null;
}

/**
 * While something is not over, its task says how it stands, or its end that nobody has followed up. The time of its end is the same in all
 * tables, so that one day of the ended is looked at. Ends are looked up in an object; else each of a thousand tasks would be compared with
 * thousands of ends. Indexes: flow_tasks_in_order, flow_edges_back, tasks_pkey, flow_ends_of_flow, flow_ends_pkey, ended_tasks_by_id.
 */
export const FLOW_TASKS = `
  WITH ends AS MATERIALIZED (SELECT jsonb_object_agg(task_id, id) AS of_tasks FROM flow_ends WHERE flow_id = $1)
  SELECT f.place, f.ref, f.task_id, f.type, f.pool, f.on_failure, f.max_output_bytes, f.run, greatest(f.waiting, 0) AS waiting,
    t.lane, t.due_at, t.story ->> 'until' AS until,
    ARRAY(SELECT e.after FROM flow_edges e WHERE e.flow_id = f.flow_id AND e.ref = f.ref ORDER BY e.after) AS after,
    coalesce(f.status, t.status, n.status, 'Cancelled') AS status, coalesce(f.reason, n.reason) AS reason,
    coalesce(f.error, n.error) ->> 'name' AS error_name, left(coalesce(f.error, n.error) ->> 'message', ${FLOW_TASK_MESSAGE_CHARS}) AS error_message,
    coalesce(t.started_at, e.started_at) AS started_at, coalesce(f.ended_at, n.ended_at) AS ended_at,
    CASE WHEN $4 THEN coalesce(f.output, n.output) END AS output
  FROM flow_tasks f
  LEFT JOIN tasks t ON t.id = f.task_id AND f.status IS NULL
  LEFT JOIN flow_ends n ON n.id = ((SELECT of_tasks FROM ends) ->> f.task_id::text)::bigint AND f.status IS NULL
  LEFT JOIN ended_tasks e ON e.id = f.task_id AND e.ended_at = coalesce(f.ended_at, n.ended_at)
  WHERE f.flow_id = $1 AND f.place >= $2 ORDER BY f.place LIMIT $3`;

/** @param standing needed if it is Ready */
export function toFlowTaskView(row: FlowTaskRow, standing?: TypeStanding): FlowTaskView {
  const { ref, type, pool, after, run, status, reason, error_name: name, error_message: message, output } = row;
  return {
    ref,
    taskId: row.task_id,
    type,
    pool,
    after,
    onFailure: row.on_failure,
    maxOutputBytes: row.max_output_bytes,
    run,
    status,
    waitsFor: status === "Blocked" ? row.waiting : 0,
    waitReason: waitReasonOf(row, standing),
    reason,
    lastError: status === "Completed" || name === null ? null : { name, message: message ?? "" },
    startedAt: shownTimeOrNull(row.started_at),
    endedAt: shownTimeOrNull(row.ended_at),
    ...(output !== null && { output: fromJsonText(output) }),
  };
}

const waitReasonOf = ({ task_id: id, due_at, until, lane, status }: FlowTaskRow, standing?: TypeStanding) =>
  due_at === null ? null : waitOfRow({ id, status, lane, due_at, until: until ?? "" }, standing);
