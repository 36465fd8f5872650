import type { SendId, StartTask } from "@unacked/contracts";
import type { AtOnce, Creation, InsertOutcome, NewTask, TaskStore } from "./task-store.ts";

export interface SenderAtOnce {
  /** Asked before so many of these types are created in a pool. @returns undefined: they wait, to be claimed */
  atOnce(pool: string, types: ReadonlySet<string>, count: number): AtOnce | undefined;
  /** Publishes what was Sent as it was created, of one pool. */
  sent(pool: string, tasks: readonly StartTask[]): void;
}

/**
 * Comes in: tasks without keys. Where a worker is free for each of them, and nothing else waits, they are Sent as they are created, and
 * published: what they would wait for is three answers of the database. A crash between commit and publish leaves what it leaves of a claim: a
 * task that is Sent and nowhere, which is proven absent (docs/decisions/0011-tasks.md).
 */
export async function insertAtOnce(
  { store, sender }: { store: Pick<TaskStore, "insert">; sender?: SenderAtOnce },
  tasks: Creation[],
): Promise<InsertOutcome[]> {
  const pool = sender === undefined ? undefined : onlyPoolOf(tasks);
  if (sender === undefined || pool === undefined) return await store.insert(tasks);
  const types = new Set(tasks.map(({ task }) => task.type));
  const outcomes = await store.insert(tasks, sender.atOnce(pool, types, tasks.length));
  const sent = tasks.flatMap(({ task }, i) => {
    const outcome = outcomes[i];
    return outcome?.kind === "created" && outcome.sendId !== null ? [startOf(task, outcome.sendId)] : [];
  });
  if (sent.length > 0) sender.sent(pool, sent);
  return outcomes;
}

/** Undefined: they are of several. */
function onlyPoolOf(tasks: readonly Creation[]): string | undefined {
  const pool = tasks[0]?.task.pool;
  return tasks.every(({ task }) => task.pool === pool) ? pool : undefined;
}

const startOf = ({ id, type, pool, params, maxAttempts }: NewTask, sendId: SendId): StartTask => ({
  taskId: id,
  sendId,
  pool,
  type,
  params,
  sends: 1,
  failures: 0,
  ...(maxAttempts !== undefined && { maxAttempts }),
});
