import type { SendId, StartTask } from "@unacked/contracts";
import { countByType } from "../../../domain/tasks/bundles.ts";
import type { InsertOutcome } from "../creations/insert-outcome.ts";
import type { Creation, NewTask } from "../creations/new-task.ts";
import type { TaskStore } from "../desk/task-store.ts";
import type { AtOnce } from "./at-once.ts";

export interface SenderAtOnce {
  /** Asked before so many that are due, of these types, are created in a pool. @returns undefined: they wait, to be claimed */
  atOnce(pool: string, counts: ReadonlyMap<string, number>): AtOnce | undefined;
  /**
   * Publishes what was Sent as it was created, of one pool, in this order.
   * @param tried how many an insert has tried, and how long it took. Undefined: it has waited for somebody else's lock, and how long that
   * was says nothing of the pool.
   */
  sent(pool: string, tasks: readonly StartTask[], tried: { count: number; tookMs: number } | undefined): void;
  /** Work that may end with `sent`: whoever stops the sender waits for it. */
  during<T>(work: Promise<T>): Promise<T>;
}

interface Parts {
  store: Pick<TaskStore, "insert">;
  sender?: SenderAtOnce;
}

/**
 * Comes in: tasks without keys. Where the window has room for each of them, and nothing else is due, they are Sent as they are created, and
 * published: what they would wait for is three answers of the database. A crash between commit and publish leaves what it leaves of a claim: a
 * task that is Sent and nowhere, which is proven absent (docs/decisions/0034-sent-as-created.md).
 */
export function insertAtOnce({ store, sender }: Parts, tasks: Creation[]): Promise<InsertOutcome[]> {
  const pool = onlyPoolOf(tasks);
  const due = countByType(tasks.filter(({ task }) => isDue(task)));
  const sending = pool === undefined || due.size === 0 ? undefined : sender?.atOnce(pool, due);
  if (sender === undefined || sending === undefined) return store.insert(tasks);
  return sender.during(insertAndSend(store, sender, sending, tasks));
}

async function insertAndSend(
  store: Parts["store"],
  sender: SenderAtOnce,
  sending: AtOnce,
  tasks: Creation[],
): Promise<InsertOutcome[]> {
  const beganMs = performance.now();
  let isHeldUp = false;
  const outcomes = await store.insert(tasks, { ...sending, heldUp: () => (isHeldUp = true) });
  const tookMs = performance.now() - beganMs;
  const sent = tasks.flatMap(({ task }, i) => {
    const outcome = outcomes[i];
    return outcome?.kind === "created" && outcome.sendId !== null ? [{ task, sendId: outcome.sendId }] : [];
  });
  const inOrder = sent
    .sort((one, other) => byUrgency(one.task, other.task))
    .map(({ task, sendId }) => startOf(task, sendId));
  sender.sent(sending.pool, inOrder, isHeldUp ? undefined : { count: tasks.length, tookMs });
  return outcomes;
}

const isDue = ({ startAt }: NewTask): boolean => startAt === undefined || Date.parse(startAt) <= Date.now();

/** Undefined: they are of several pools. */
function onlyPoolOf(tasks: readonly Creation[]): string | undefined {
  const pool = tasks[0]?.task.pool;
  return tasks.every(({ task }) => task.pool === pool) ? pool : undefined;
}

/** Sorts as a claim does. What has no time is due now, so that all that are told one were due before. */
function byUrgency(one: NewTask, other: NewTask): number {
  if (one.priority !== other.priority) return other.priority - one.priority;
  const dueOf = ({ startAt }: NewTask) => (startAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(startAt));
  const [due, otherDue] = [dueOf(one), dueOf(other)];
  return due === otherDue ? 0 : due - otherDue;
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
