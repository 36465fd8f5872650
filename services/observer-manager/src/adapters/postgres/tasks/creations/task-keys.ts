import type { TaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { NewTask } from "../../../../operations/tasks/creations/new-task.ts";

/** Indexes: tasks_key, tasks_pkey. They are locked in one order, so that nobody waits for somebody who waits for him. */
const WINNERS = `
  SELECT id, type, key, status, pool FROM tasks WHERE id = ANY(ARRAY(
    SELECT id FROM tasks WHERE (type, key) IN (SELECT * FROM unnest($1::text[], $2::text[])) AND key IS NOT NULL))
  ORDER BY id FOR UPDATE`;

const REPLACE = `
  UPDATE tasks t SET params = u.params::jsonb, next_params = NULL, pool = u.pool, priority = u.priority,
    max_attempts = u.max_attempts, due_at = coalesce(u.start_at, unacked_now()),
    status = CASE WHEN u.start_at > unacked_now() THEN 'Scheduled' ELSE 'Ready' END,
    failures = 0, crashes = 0, last_error = NULL
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::int[], $6::timestamptz[])
    AS u (id, params, pool, priority, max_attempts, start_at) WHERE t.id = u.id AND t.id = ANY($1)`;

const QUEUE = `
  UPDATE tasks t SET next_params = u.params::jsonb FROM unnest($1::uuid[], $2::text[]) AS u (id, params)
  WHERE t.id = u.id AND t.id = ANY($1)`;

interface Winner {
  id: TaskId;
  type: string;
  key: string;
  status: string;
  pool: string;
  /** What it is to become, and what is to run after it. */
  replacement?: NewTask | undefined;
  next?: { params: unknown } | undefined;
}

/**
 * What becomes of a request whose key another task has. `gone`: that one is over meanwhile; `key-elsewhere`: its pool is none of the
 * caller's.
 */
export type KeyOutcome =
  | { kind: "key-taken" | "returned" | "replaced" | "queued"; winner: TaskId }
  | { kind: "gone" }
  | { kind: "key-elsewhere" };

const nameOf = ({ type, key }: { type: string; key?: string | undefined }): string => `${type} ${key}`; // a type has no blank

/** Does to the tasks that have these keys what each request wants, in the order given. */
export async function meetWinners(tx: EntityManager, tasks: NewTask[]): Promise<KeyOutcome[]> {
  if (tasks.length === 0) return [];
  const rows = await tx.query<Winner[]>(WINNERS, [tasks.map(({ type }) => type), tasks.map(({ key }) => key)]);
  const winners = new Map(rows.map((winner) => [nameOf(winner), winner]));
  const outcomes = tasks.map((task): KeyOutcome => {
    const winner = winners.get(nameOf(task));
    if (winner === undefined) return { kind: "gone" };
    return mayMeet(task, winner) ? { kind: meet(task, winner), winner: winner.id } : { kind: "key-elsewhere" };
  });
  const replaced = rows.flatMap(({ id, replacement }) => (replacement === undefined ? [] : [{ ...replacement, id }]));
  if (replaced.length > 0) await tx.query(REPLACE, parametersOf(replaced));
  const queued = rows.flatMap(({ id, next }) => (next === undefined ? [] : [{ id, params: JSON.stringify(next.params) }]));
  if (queued.length > 0) await tx.query(QUEUE, [queued.map(({ id }) => id), queued.map(({ params }) => params)]);
  return outcomes;
}

/** Whether whoever asks may see and change a task of that pool. */
export const mayMeet = ({ within }: NewTask, { pool }: { pool: string }): boolean => within?.includes(pool) ?? true;

/** Notes in `winner` what is to become of it. */
function meet(task: NewTask, winner: Winner): "key-taken" | "returned" | "replaced" | "queued" {
  if (task.onConflict === "reject") return "key-taken";
  if (task.onConflict === "return") return "returned";
  const waits = winner.status === "Scheduled" || winner.status === "Ready";
  if (task.onConflict === "replace" && waits) {
    Object.assign(winner, { replacement: task, next: undefined });
    return "replaced";
  }
  winner.next = { params: task.params };
  return "queued";
}

const parametersOf = (tasks: NewTask[]): unknown[] => [
  tasks.map((t) => t.id),
  tasks.map((t) => JSON.stringify(t.params)),
  tasks.map((t) => t.pool),
  tasks.map((t) => t.priority),
  tasks.map((t) => t.maxAttempts ?? null),
  tasks.map((t) => t.startAt ?? null),
];
