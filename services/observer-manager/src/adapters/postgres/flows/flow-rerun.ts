import { type FlowId, newTaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { type RunStep, rerunOf } from "../../../domain/flows/flow-rerun.ts";
import { makeTasks } from "./flow-rows.ts";

const LOCK = "SELECT status, run FROM flows WHERE id = $1 FOR UPDATE";

const STEPS = `
  SELECT ref, status, on_failure AS "onFailure", reason,
    ARRAY(SELECT e.after FROM flow_edges e WHERE e.flow_id = f.flow_id AND e.ref = f.ref) AS after
  FROM flow_tasks f WHERE flow_id = $1 ORDER BY place`;

const BEGIN_AGAIN = `
  UPDATE flow_tasks t SET task_id = u.task_id, run = $2, waiting = u.waiting, status = NULL, output = NULL, error = NULL, reason = NULL,
    ended_at = NULL
  FROM unnest($3::text[], $4::uuid[], $5::int[]) AS u (ref, task_id, waiting) WHERE t.flow_id = $1 AND t.ref = u.ref`;

/** Drops ends that are left of a flow that was cancelled; all of them were written down. */
const DROP_ENDS = "DELETE FROM flow_ends WHERE flow_id = $1";

const RUNNING = `
  UPDATE flows SET status = 'Running', run = $2, reason = $3, ended_at = NULL, cancel_requested_at = NULL, cancel_ordered = false,
    (completed, failed, cancelled) = (
      SELECT count(*) FILTER (WHERE status = 'Completed'), count(*) FILTER (WHERE status = 'Failed'), count(*) FILTER (WHERE status = 'Cancelled')
      FROM flow_tasks WHERE flow_id = $1)
  WHERE id = $1`;

/** Locks the flow, so that nobody follows it up until the transaction ends. */
export async function rerunFlow(
  tx: EntityManager,
  id: FlowId,
  from: readonly string[] | undefined,
): Promise<{ kind: "running" } | { kind: "refused"; why: string } | { kind: "not-over" | "not-found" }> {
  const [flow] = await tx.query<{ status: string; run: number }[]>(LOCK, [id]);
  if (flow === undefined) return { kind: "not-found" };
  if (flow.status === "Running") return { kind: "not-over" };
  const rerun = rerunOf(await tx.query<RunStep[]>(STEPS, [id]), from);
  if ("refused" in rerun) return { kind: "refused", why: rerun.refused };
  const { again, reason } = rerun;
  const run = flow.run + 1;
  await tx.query(DROP_ENDS, [id]);
  await tx.query(BEGIN_AGAIN, [
    id,
    run,
    again.map(({ ref }) => ref),
    again.map(() => newTaskId()),
    again.map(({ waiting }) => waiting),
  ]);
  await tx.query(RUNNING, [id, run, reason]);
  await makeTasks(tx, id, run);
  return { kind: "running" };
}
