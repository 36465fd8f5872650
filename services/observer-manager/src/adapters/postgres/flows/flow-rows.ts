import { newTaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { followersOf } from "../../../domain/flows/circle.ts";
import type { NewFlow } from "../../../operations/flows/flow-store.ts";
import { GivenRows } from "../statements/given-rows.ts";

const FLOW = `
  WITH fresh AS (INSERT INTO flows (id, name, digest, total) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING id)
  SELECT id FROM fresh`;

interface Placed {
  task: NewFlow["tasks"][number];
  place: number;
  followers: number;
}

const GIVEN = new GivenRows<Placed>({
  ref: ["text", ({ task }) => task.ref],
  place: ["int", ({ place }) => place],
  task_id: ["uuid", newTaskId],
  type: ["text", ({ task }) => task.type],
  params: ["jsonb", ({ task }) => JSON.stringify(task.params)],
  pool: ["text", ({ task }) => task.pool],
  priority: ["int", ({ task }) => task.priority],
  start_at: ["timestamptz", ({ task }) => task.startAt ?? null],
  max_attempts: ["int", ({ task }) => task.maxAttempts ?? null],
  on_failure: ["text", ({ task }) => task.onFailure],
  max_output_bytes: ["int", ({ task }) => task.maxOutputBytes],
  followers: ["int", ({ followers }) => followers],
  waiting: ["int", ({ task }) => task.after.length],
});
/** $14, behind the columns, is the flow. */
const TASKS = `INSERT INTO flow_tasks (${GIVEN.names()}, flow_id) SELECT *, $14::uuid FROM ${GIVEN.from()}`;

const EDGES =
  "INSERT INTO flow_edges (flow_id, after, ref) SELECT $1, after, ref FROM unnest($2::text[], $3::text[]) AS u (after, ref)";

/** Creates the tasks of a run of the flow, and adds them to the figures. */
const MAKE_TASKS = `
  WITH made AS (
    INSERT INTO tasks (id, type, params, pool, priority, due_at, max_attempts, status, flow_id, flow_ref)
    SELECT task_id, type, params, pool, priority, greatest(start_at, unacked_now()), max_attempts,
           CASE WHEN waiting > 0 THEN 'Blocked' WHEN start_at > unacked_now() THEN 'Scheduled' ELSE 'Ready' END, flow_id, ref
    FROM flow_tasks WHERE flow_id = $1 AND run = $2 AND status IS NULL ORDER BY place RETURNING type, pool)
  INSERT INTO task_figure_deltas (type, pool, created) SELECT type, pool, count(*) FROM made GROUP BY 1, 2`;

/** @returns false if its id is taken: by another flow, or by itself, created before */
export async function insertFlow(tx: EntityManager, flow: NewFlow, digest: string): Promise<boolean> {
  const { id, name, tasks } = flow;
  const fresh = await tx.query<unknown[]>(FLOW, [id, name ?? null, digest, tasks.length]);
  if (fresh.length === 0) return false;
  const followers = followersOf(tasks);
  const placed = tasks.map((task, place) => ({ task, place, followers: followers.get(task.ref)?.length ?? 0 }));
  await tx.query(TASKS, [...GIVEN.of(placed), id]);
  const edges = tasks.flatMap(({ ref, after }) => after.map((before) => [before, ref] as const));
  if (edges.length > 0) await tx.query(EDGES, [id, edges.map(([after]) => after), edges.map(([, ref]) => ref)]);
  await makeTasks(tx, id, 1);
  return true;
}

export async function makeTasks(tx: EntityManager, flowId: string, run: number): Promise<void> {
  await tx.query(MAKE_TASKS, [flowId, run]);
}
