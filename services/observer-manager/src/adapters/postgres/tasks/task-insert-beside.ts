import type { EntityManager } from "typeorm";
import { allInOrder } from "../../../operations/all-in-order.ts";
import type { AtOnce, InsertOutcome } from "../../../operations/tasks/task-store.ts";
import { sqlStateOf } from "../connection/database-error.ts";
import type { Unawaited } from "../connection/transaction.ts";
import { type Asked, insertTasks } from "./task-insert.ts";

/** Longer than a transaction of ours takes; and than PostgreSQL needs to see that two wait for each other (`deadlock_timeout`, 1 s). */
const WAIT_MS = 2_000;
/** Once it is known that somebody holds one of their keys. */
const LOOK_MS = 100;

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * As insertTasks, and nobody waits for long for a key: an application's transaction (`unacked_create_task`) keeps its own for as long as it is
 * open. Where one is kept for longer, each is inserted by itself, and those whose keys are kept are `held-up`; the others are not.
 */
export async function insertBeside(
  tx: EntityManager,
  tasks: Asked[],
  unawaited?: Unawaited,
  sending?: AtOnce,
): Promise<InsertOutcome[]> {
  if (!tasks.some(hasKey)) return await insertTasks(tx, tasks, unawaited, sending);
  const together = await within(tx, WAIT_MS, () => insertTasks(tx, tasks));
  if (together !== undefined) return together;
  const free = tasks.filter((one) => !hasKey(one));
  const found = new Map<Asked, InsertOutcome>();
  for (const [i, outcome] of (await insertTasks(tx, free)).entries()) found.set(free[i] as Asked, outcome);
  for (const one of tasks.filter(hasKey)) {
    const [outcome] = (await within(tx, LOOK_MS, () => insertTasks(tx, [one]))) ?? [];
    found.set(one, outcome ?? { kind: "held-up" });
  }
  return tasks.map((one) => found.get(one) as InsertOutcome);
}

const hasKey = ({ task }: Asked): boolean => task.key !== undefined;

/** @returns undefined: somebody holds what it needs, and nothing of it is done */
async function within<T>(tx: EntityManager, waitMs: number, work: () => Promise<T>): Promise<T | undefined> {
  try {
    const begun = [tx.query("SAVEPOINT beside"), tx.query(`SET LOCAL lock_timeout = ${waitMs}`)] as const;
    const [, , result] = await allInOrder([...begun, work()]);
    await allInOrder([tx.query("SET LOCAL lock_timeout TO DEFAULT"), tx.query("RELEASE SAVEPOINT beside")]);
    return result;
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    await tx.query("ROLLBACK TO SAVEPOINT beside");
    return undefined;
  }
}
