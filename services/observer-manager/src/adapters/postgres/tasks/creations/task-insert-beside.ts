import type { EntityManager } from "typeorm";
import { isNew } from "../../../../operations/tasks/creations/new-ids.ts";
import type { AtOnce, InsertOutcome } from "../../../../operations/tasks/task-store.ts";
import type { Unawaited } from "../../connection/transaction.ts";
import { looksInTurn, WAIT_MS, within } from "../../statements/lock-waits.ts";
import { type Asked, insertTasks } from "./task-insert.ts";

/**
 * As insertTasks, and nobody waits for long for a key, or an id: an application's transaction (`unacked_create_task`) keeps its own for as long as it is
 * open. Where one is kept for longer, each is inserted by itself, and those whose keys or ids are kept are `held-up`; the others are not.
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
  const free = tasks.filter(isFree);
  const found = new Map<Asked, InsertOutcome>();
  for (const [i, outcome] of (await insertTasks(tx, free)).entries()) found.set(free[i] as Asked, outcome);
  const lookMs = looksInTurn(waitMs);
  for (const one of tasks.filter((each) => !isFree(each))) {
    const [outcome] = (await within(tx, lookMs(), () => insertTasks(tx, [one]))) ?? [];
    found.set(one, outcome ?? { kind: "held-up" });
  }
  return tasks.map((one) => found.get(one) as InsertOutcome);
}
