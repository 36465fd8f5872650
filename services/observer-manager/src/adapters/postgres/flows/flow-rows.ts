import { createHash } from "node:crypto";
import { newTaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { followersOf } from "../../../domain/flows/circle.ts";
import type { NewFlow } from "../../../operations/flows/flow-store.ts";

const FLOW = `
  WITH fresh AS (INSERT INTO flows (id, name, digest, total) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING id)
  SELECT id FROM fresh`;

const TASKS = `
  INSERT INTO flow_tasks (flow_id, ref, place, task_id, type, params, pool, priority, start_at, max_attempts, on_failure,
                          max_output_bytes, followers, waiting)
  SELECT $1, ref, place, task_id, type, params::jsonb, pool, priority, start_at, max_attempts, on_failure, max_output_bytes, followers, waiting
  FROM unnest($2::text[], $3::int[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::int[], $9::timestamptz[], $10::int[], $11::text[],
              $12::int[], $13::int[], $14::int[])
    AS u (ref, place, task_id, type, params, pool, priority, start_at, max_attempts, on_failure, max_output_bytes, followers, waiting)`;

const EDGES =
  "INSERT INTO flow_edges (flow_id, after, ref) SELECT $1, after, ref FROM unnest($2::text[], $3::text[]) AS u (after, ref)";

/** Those of a run of the flow as tasks, with what they add to the figures. */
const MAKE_TASKS = `
  WITH made AS (
    INSERT INTO tasks (id, type, params, pool, priority, due_at, max_attempts, status, flow_id, flow_ref)
    SELECT task_id, type, params, pool, priority, greatest(start_at, unacked_now()), max_attempts,
           CASE WHEN waiting > 0 THEN 'Blocked' WHEN start_at > unacked_now() THEN 'Scheduled' ELSE 'Ready' END, flow_id, ref
    FROM flow_tasks WHERE flow_id = $1 AND run = $2 AND status IS NULL ORDER BY place RETURNING type, pool)
  INSERT INTO task_figure_deltas (type, pool, created) SELECT type, pool, count(*) FROM made GROUP BY 1, 2`;

/** Of all that was asked: the same once more is the same flow. */
export const digestOf = ({ name, tasks }: NewFlow): string =>
  createHash("sha256")
    .update(JSON.stringify([name, tasks]))
    .digest("hex");

/** @returns false: its id is another's, or its own of before */
export async function insertFlow(tx: EntityManager, flow: NewFlow): Promise<boolean> {
  const { id, name, tasks } = flow;
  const fresh = await tx.query<unknown[]>(FLOW, [id, name ?? null, digestOf(flow), tasks.length]);
  if (fresh.length === 0) return false;
  const followers = followersOf(tasks);
  await tx.query(TASKS, [
    id,
    tasks.map(({ ref }) => ref),
    tasks.map((_, place) => place),
    tasks.map(() => newTaskId()),
    tasks.map(({ type }) => type),
    tasks.map(({ params }) => JSON.stringify(params)),
    tasks.map(({ pool }) => pool),
    tasks.map(({ priority }) => priority),
    tasks.map(({ startAt }) => startAt ?? null),
    tasks.map(({ maxAttempts }) => maxAttempts ?? null),
    tasks.map(({ onFailure }) => onFailure),
    tasks.map(({ maxOutputBytes }) => maxOutputBytes),
    tasks.map(({ ref }) => followers.get(ref)?.length ?? 0),
    tasks.map(({ after }) => after.length),
  ]);
  const edges = tasks.flatMap(({ ref, after }) => after.map((before) => [before, ref] as const));
  if (edges.length > 0) await tx.query(EDGES, [id, edges.map(([after]) => after), edges.map(([, ref]) => ref)]);
  await makeTasks(tx, id, 1);
  return true;
}

export async function makeTasks(tx: EntityManager, flowId: string, run: number): Promise<void> {
  await tx.query(MAKE_TASKS, [flowId, run]);
}
