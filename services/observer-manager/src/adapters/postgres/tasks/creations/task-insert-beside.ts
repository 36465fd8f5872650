import type { EntityManager } from "typeorm";
import { allInOrder } from "../../../../operations/all-in-order.ts";
import type { InsertOutcome } from "../../../../operations/tasks/creations/insert-outcome.ts";
import { isNew } from "../../../../operations/tasks/creations/new-ids.ts";
import type { AtOnce } from "../../../../operations/tasks/dispatch/at-once.ts";
import type { Unawaited } from "../../connection/transaction.ts";
import { besideHeld, WAIT_MS, within } from "../../statements/lock-waits.ts";
import { type Asked, insertTasks } from "./task-insert.ts";

/**
 * The locks that an insert takes on its tables. They are waited for as by any statement: who locks a table (CREATE INDEX, VACUUM FULL) has
 * nobody's key.
 */
const TABLES = [
  "LOCK TABLE tasks IN ROW EXCLUSIVE MODE",
  "LOCK TABLE ended_tasks, task_types, task_services IN ACCESS SHARE MODE",
];
/** Only what somebody has asked for is audited. */
const AUDIT = "LOCK TABLE audit IN ROW EXCLUSIVE MODE";

/**
 * Like insertTasks, but nobody waits for long for a key, or an id: an application's transaction (`unacked_create_task`) keeps its own for
 * as long as it is open. If one is kept for longer, they are looked at in portions, and only those whose keys or ids are kept are
 * `held-up`.
 */
export async function insertBeside(
  tx: EntityManager,
  tasks: Asked[],
  unawaited?: Unawaited,
  sending?: AtOnce,
  waitMs = WAIT_MS,
): Promise<InsertOutcome[]> {
  const isFree = ({ task }: Asked): boolean => isNew(task);
  if (tasks.every(isFree)) return await insertTasks(tx, tasks, unawaited, sending);
  const together = await within(tx, waitMs, () => insertTasks(tx, tasks, unawaited, sending), unawaited);
  if (together !== undefined) return together;
  sending?.heldUp?.();
  const isAudited = tasks.some(({ action }) => action !== undefined);
  await allInOrder([...TABLES, ...(isAudited ? [AUDIT] : [])].map((lock) => tx.query(lock)));
  const free = tasks.filter(isFree);
  const found = new Map<Asked, InsertOutcome>();
  for (const [i, outcome] of (await insertTasks(tx, free)).entries()) found.set(free[i] as Asked, outcome);
  const others = tasks.filter((each) => !isFree(each));
  const work = (some: Asked[]) => insertTasks(tx, some);
  const looked = await besideHeld(tx, others, { waitMs, work, held: [{ kind: "held-up" } as const] });
  for (const [i, outcome] of looked.entries()) found.set(others[i] as Asked, outcome);
  return tasks.map((one) => found.get(one) as InsertOutcome);
}
