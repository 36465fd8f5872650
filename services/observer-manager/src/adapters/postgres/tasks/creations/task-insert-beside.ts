import type { EntityManager } from "typeorm";
import { allInOrder } from "../../../../operations/all-in-order.ts";
import { isNew } from "../../../../operations/tasks/creations/new-ids.ts";
import type { AtOnce, InsertOutcome } from "../../../../operations/tasks/task-store.ts";
import type { Unawaited } from "../../connection/transaction.ts";
import { looksInTurn, WAIT_MS, within } from "../../statements/lock-waits.ts";
import { type Asked, insertTasks } from "./task-insert.ts";

/** What an insert takes of its tables, waited for as by any statement: a table that is locked (CREATE INDEX, VACUUM FULL) is nobody's key. */
const TABLES = [
  "LOCK TABLE tasks IN ROW EXCLUSIVE MODE",
  "LOCK TABLE ended_tasks, task_types, task_services IN ACCESS SHARE MODE",
];
/** Of what somebody has asked for. */
const AUDIT = "LOCK TABLE audit IN ROW EXCLUSIVE MODE";

/** Looked at together, and by themselves where one of them is kept: one after the other, ten thousand would take a minute. */
const PORTION = 100;

/**
 * As insertTasks, and nobody waits for long for a key, or an id: an application's transaction (`unacked_create_task`) keeps its own for as long as it is
 * open. Where one is kept for longer, they are looked at in portions, and those whose keys or ids are kept are `held-up`; the others are not.
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
  const lookMs = looksInTurn(waitMs);
  const others = tasks.filter((each) => !isFree(each));
  for (let from = 0; from < others.length; from += PORTION) {
    const portion = others.slice(from, from + PORTION);
    for (const [i, outcome] of (await lookAt(tx, portion, lookMs)).entries()) found.set(portion[i] as Asked, outcome);
  }
  return tasks.map((one) => found.get(one) as InsertOutcome);
}

async function lookAt(tx: EntityManager, tasks: Asked[], lookMs: () => number): Promise<InsertOutcome[]> {
  const together = await within(tx, lookMs(), () => insertTasks(tx, tasks));
  if (together !== undefined) return together;
  if (tasks.length === 1) return [{ kind: "held-up" }];
  const outcomes: InsertOutcome[] = [];
  for (const one of tasks) outcomes.push(...(await lookAt(tx, [one], lookMs)));
  return outcomes;
}
