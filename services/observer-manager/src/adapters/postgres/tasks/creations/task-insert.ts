import type { TaskView } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { type Action, type ActionDone, doneToTasks } from "../../../../operations/access/audit.ts";
import { allInOrder } from "../../../../operations/all-in-order.ts";
import { isChange } from "../../../../operations/tasks/creations/creation-check.ts";
import type { InsertOutcome } from "../../../../operations/tasks/creations/insert-outcome.ts";
import { isNew } from "../../../../operations/tasks/creations/new-ids.ts";
import type { Creation, NewTask } from "../../../../operations/tasks/creations/new-task.ts";
import type { AtOnce } from "../../../../operations/tasks/dispatch/at-once.ts";
import { recordActions } from "../../access/audit-rows.ts";
import type { Unawaited } from "../../connection/transaction.ts";
import { TaskStandings } from "../views/task-standings.ts";
import { ENDED_AMONG } from "../views/task-view.ts";
import { viewOfNew } from "./new-task-view.ts";
import { findThere, sameParams } from "./task-found.ts";
import { insertNew } from "./task-insert-new.ts";
import { insertsBy, parametersOfInsert } from "./task-insert-parameters.ts";
import { BEFORE_AT_ONCE, type FreshRow, TIMES, type Times } from "./task-insert-statements.ts";
import { mayMeet, meetWinners } from "./task-keys.ts";

const TAKE_BACK = "DELETE FROM tasks WHERE id = ANY($1)";

/**
 * If the task that had a key is over when it is looked at, the insert is tried again: so often, and then the caller is told to
 * come back.
 */
const MAX_ROUNDS = 20;

export interface Asked extends Omit<Creation, "action"> {
  /** Undefined: a handler creates it, and the handler's task says what it created. */
  action: Action | undefined;
}

/**
 * Creates each, or finds what is there in its place; outcomes are in the order given. @param unawaited takes what need only be done when
 * the transaction commits; without it, that is done when this resolves. With `sending`, which is for tasks without keys, they may be Sent
 * by it.
 */
export async function insertTasks(
  tx: EntityManager,
  tasks: Asked[],
  unawaited?: Unawaited,
  sending?: AtOnce,
): Promise<InsertOutcome[]> {
  if (tasks.length === 0) return [];
  const areNew = tasks.every(({ task }) => isNew(task));
  const outcomes = await (areNew ? insertNew(tx, tasks, sending) : insertInRounds(tx, tasks, sending));
  const recorded = recordActions(tx, doneIn(tasks, outcomes));
  if (unawaited === undefined) await recorded;
  else unawaited.add(recorded);
  return outcomes;
}

async function insertInRounds(tx: EntityManager, tasks: Asked[], sending?: AtOnce): Promise<InsertOutcome[]> {
  const outcomes = new Map<Asked, InsertOutcome>();
  let left = tasks;
  for (let round = 0; left.length > 0 && round < MAX_ROUNDS; round += 1) {
    for (const [asked, outcome] of await insertRound(tx, left, sending)) outcomes.set(asked, outcome);
    left = left.filter((asked) => !outcomes.has(asked));
  }
  return tasks.map((asked) => outcomes.get(asked) ?? { kind: "held-up" });
}

/** What the audit trail says of it: one entry a call. */
function doneIn(tasks: readonly Asked[], outcomes: readonly InsertOutcome[]): ActionDone[] {
  const done = new Map<Action, string[]>();
  for (const [i, { action }] of tasks.entries()) {
    const outcome = outcomes[i];
    if (action === undefined || outcome === undefined || !("task" in outcome) || !isChange(outcome)) continue;
    const ids = done.get(action);
    if (ids === undefined) done.set(action, [outcome.id]);
    else ids.push(outcome.id);
  }
  return [...done].map(([action, ids]) => doneToTasks(action, ids));
}

/** @returns no outcome for those whose key belonged to a task that is over by now */
async function insertRound(tx: EntityManager, tasks: Asked[], sending?: AtOnce): Promise<Map<Asked, InsertOutcome>> {
  const all = tasks.map(({ task }) => task);
  const ready = allInOrder(sending === undefined ? [] : BEFORE_AT_ONCE.map((before) => tx.query(before)));
  const insert = tx.query<FreshRow[]>(insertsBy(sending).any, parametersOfInsert(all, sending));
  const shown = tasks.filter(({ isShown }) => isShown !== false).map(({ task }) => task);
  // One that is repeated within the batch is compared with the first, shown or not.
  const times = tx.query<Times[]>(TIMES);
  const [, inserted, standings, [at]] = await allInOrder([ready, insert, TaskStandings.read(tx, shown), times]);
  const newIds = new Set<string>(all.flatMap(({ id, hasNewId }) => (hasNewId ? [id] : [])));
  const ended = await takeBackEnded(
    tx,
    inserted.flatMap(({ id }) => (newIds.has(id) ? [] : [id])),
  );
  const fresh = inserted.filter(({ id }) => !ended.has(id));
  const created = new Map(fresh.map((row) => [row.id, row]));
  const others = all.filter(({ id }) => !created.has(id)).map(({ id }) => id);
  const known = await findThere(tx, [...new Set(others)]);
  const haveSameParams = await sameParams(tx, known, all);
  const knownById = new Map(known.views.map((task) => [task.id, () => task]));
  const outcomes = new Map<Asked, InsertOutcome>();
  const met: Asked[] = [];
  for (const asked of tasks) {
    const { task } = asked;
    const row = created.get(task.id);
    created.delete(task.id); // the same id once more in this batch finds it
    const there = row === undefined ? knownById.get(task.id) : () => viewOfNew(task, row, standings, at as Times);
    if (row !== undefined && there !== undefined) {
      knownById.set(task.id, there);
      outcomes.set(asked, { kind: "created", id: task.id, task: there, sendId: row.sendId });
    } else if (there === undefined) met.push(asked);
    else {
      const isRepeat = isLike(task, there()) && (task.key !== undefined || haveSameParams(task, there()));
      const exists = { kind: "exists", id: task.id, task: there, isShort: known.short.has(task.id) } as const;
      outcomes.set(asked, isRepeat ? exists : { kind: "taken" });
    }
  }
  for (const [asked, outcome] of await meet(tx, met)) outcomes.set(asked, outcome);
  return outcomes;
}

/** An id that is among the ended already has had its task: its insert is taken back. @returns those */
async function takeBackEnded(tx: EntityManager, ids: string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return NONE;
  const ended = (await tx.query<{ id: string }[]>(ENDED_AMONG, [ids])).map(({ id }) => id);
  if (ended.length > 0) await tx.query(TAKE_BACK, [ended]);
  return new Set(ended);
}

const NONE: ReadonlySet<string> = new Set();

/** The outcomes of those whose key another task has. */
async function meet(tx: EntityManager, met: Asked[]): Promise<[Asked, InsertOutcome][]> {
  const outcomes = await meetWinners(
    tx,
    met.map(({ task }) => task),
  );
  const shown = outcomes.flatMap((outcome) => ("winner" in outcome && outcome.kind !== "key-taken" ? [outcome.winner] : []));
  const { views, short } = await findThere(tx, [...new Set(shown)]);
  const byId = new Map(views.map((view) => [view.id, view]));
  return met.flatMap((asked, i): [Asked, InsertOutcome][] => {
    const outcome = outcomes[i];
    if (outcome === undefined || outcome.kind === "gone") return [];
    if (!("winner" in outcome)) return [[asked, outcome]];
    const { kind, winner } = outcome;
    const task = () => byId.get(winner) as TaskView;
    return [[asked, kind === "key-taken" ? { kind, winner } : { kind, id: winner, task, isShort: short.has(winner) }]];
  });
}

/** If it has a key, its params and pool may have been replaced meanwhile, and do not count. */
const isLike = (task: NewTask, there: TaskView): boolean =>
  mayMeet(task, there) &&
  task.type === there.type &&
  (task.key ?? null) === there.key &&
  (there.key !== null || task.pool === there.pool);
