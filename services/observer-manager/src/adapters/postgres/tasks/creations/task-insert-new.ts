import type { EntityManager } from "typeorm";
import { allInOrder } from "../../../../operations/all-in-order.ts";
import type { InsertOutcome } from "../../../../operations/tasks/creations/insert-outcome.ts";
import type { Creation } from "../../../../operations/tasks/creations/new-task.ts";
import type { AtOnce } from "../../../../operations/tasks/dispatch/at-once.ts";
import { TaskStandings } from "../views/task-standings.ts";
import { viewOfNew } from "./new-task-view.ts";
import { insertsBy, parametersOfInsert } from "./task-insert-parameters.ts";
import { BEFORE_AT_ONCE, type FreshOnes, type FreshRow, sendIdAt, TIMES, type Times } from "./task-insert-statements.ts";

/**
 * Creates tasks that have no keys and whose ids were made here (`isNew`): each is in, so that none is looked for among those that are there, and PostgreSQL
 * answers one row for all.
 */
export async function insertNew(
  tx: EntityManager,
  tasks: readonly Omit<Creation, "action">[],
  sending?: AtOnce,
): Promise<InsertOutcome[]> {
  const all = tasks.map(({ task }) => task);
  const ready = allInOrder(sending === undefined ? [] : BEFORE_AT_ONCE.map((before) => tx.query(before)));
  const insert = tx.query<FreshOnes[]>(insertsBy(sending).ofNew, parametersOfInsert(all, sending));
  const shown = tasks.filter(({ isShown }) => isShown !== false).map(({ task }) => task);
  const times = shown.length === 0 ? [] : tx.query<Times[]>(TIMES);
  const [, [fresh], standings, [at]] = await allInOrder([ready, insert, TaskStandings.read(tx, shown), times]);
  if (fresh === undefined) throw new Error("PostgreSQL did not answer what it has inserted");
  const rowAt = rowsOf(fresh);
  return all.map((task, i) => {
    const row = rowAt(i + 1);
    return { kind: "created", id: task.id, task: () => viewOfNew(task, row, standings, at as Times), sendId: row.sendId };
  });
}

/** What became of the one in that place. */
function rowsOf({ sends, later }: FreshOnes): (place: number) => Pick<FreshRow, "status" | "sendId"> {
  const areLater = new Set(later);
  return (place) => {
    if (areLater.has(place)) return { status: "Scheduled", sendId: null };
    return sends === null ? { status: "Ready", sendId: null } : { status: "Sent", sendId: sendIdAt(sends, place) };
  };
}
