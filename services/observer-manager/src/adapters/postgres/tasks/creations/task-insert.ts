import type { TaskView } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { waitOf } from "../../../../domain/tasks/task-limits.ts";
import { type Action, doneToTasks } from "../../../../operations/access/audit.ts";
import { allInOrder } from "../../../../operations/all-in-order.ts";
import type { InsertOutcome } from "../../../../operations/tasks/creations/insert-outcome.ts";
import { isNew } from "../../../../operations/tasks/creations/new-ids.ts";
import type { Creation, NewTask } from "../../../../operations/tasks/creations/new-task.ts";
import type { AtOnce } from "../../../../operations/tasks/dispatch/at-once.ts";
import { recordActions } from "../../access/audit-rows.ts";
import type { Unawaited } from "../../connection/transaction.ts";
import { mostlyNull } from "../../statements/mostly-null.ts";
import { TaskStandings } from "../views/task-standings.ts";
import { ENDED_AMONG } from "../views/task-view.ts";
import { findThere, sameParams } from "./task-found.ts";
import {
  BEFORE_AT_ONCE,
  type FreshRow,
  INSERT,
  INSERT_AT_ONCE,
  INSERT_CALLS_AT_ONCE,
  TIMES,
  type Times,
} from "./task-insert-statements.ts";
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
  const outcomes = new Map<Asked, InsertOutcome>();
  const done = new Map<Action, string[]>();
  let left = tasks;
  for (let round = 0; left.length > 0 && round < MAX_ROUNDS; round += 1) {
    for (const [asked, outcome] of await insertRound(tx, left, sending)) {
      outcomes.set(asked, outcome);
      if (asked.action === undefined || !("task" in outcome) || outcome.kind === "exists" || outcome.kind === "returned")
        continue;
      const ids = done.get(asked.action) ?? [];
      ids.push(outcome.id);
      done.set(asked.action, ids);
    }
    left = left.filter((asked) => !outcomes.has(asked));
  }
  const recorded = recordActions(
    tx,
    [...done].map(([action, ids]) => doneToTasks(action, ids)),
  );
  if (unawaited === undefined) await recorded;
  else unawaited.add(recorded);
  return tasks.map((asked) => outcomes.get(asked) ?? { kind: "held-up" });
}

/** @returns no outcome for those whose key belonged to a task that is over by now */
async function insertRound(tx: EntityManager, tasks: Asked[], sending?: AtOnce): Promise<Map<Asked, InsertOutcome>> {
  const all = tasks.map(({ task }) => task);
  const areNew = all.every(isNew);
  const { any, ofNew } = sending === undefined ? INSERT : atOnceBy(sending);
  const ready = allInOrder(sending === undefined ? [] : BEFORE_AT_ONCE.map((before) => tx.query(before)));
  const insert = tx.query<FreshRow[]>(areNew ? ofNew : any, [
    all.map((t) => t.id),
    all.map((t) => t.type),
    all.map((t) => JSON.stringify(t.params)),
    all.map((t) => t.pool),
    all.map((t) => t.priority),
    mostlyNull(all.map((t) => t.startAt ?? null)),
    mostlyNull(all.map((t) => t.maxAttempts ?? null)),
    mostlyNull(all.map((t) => t.key ?? null)),
    mostlyNull(all.map((t) => t.parentId ?? null)),
    ...(sending === undefined ? [] : parametersOf(sending)),
  ]);
  const shown = tasks.filter(({ isShown }) => isShown !== false).map(({ task }) => task);
  // One that is repeated within the batch is compared with the first, shown or not.
  const times = areNew && shown.length === 0 ? [] : tx.query<Times[]>(TIMES);
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

const atOnceBy = ({ batches }: AtOnce): typeof INSERT => (batches.size === 0 ? INSERT_AT_ONCE : INSERT_CALLS_AT_ONCE);

const parametersOf = ({ pool, window, types, batches }: AtOnce): unknown[] => [
  pool,
  window,
  types,
  ...(batches.size === 0 ? [] : [[...batches.keys()], [...batches.values()]]),
];

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

/** Shows it as the insert left it: reading ten thousand rows back takes longer than writing them. */
function viewOfNew(
  { id, type, params, pool, priority, startAt, maxAttempts, key, parentId }: NewTask,
  row: FreshRow,
  standings: TaskStandings,
  times: Times,
): TaskView {
  return {
    id,
    type,
    params,
    pool,
    key: key ?? null,
    priority,
    status: row.status,
    waitsFor: waitOf(row.status, standings.of({ pool, type })),
    cancelling: false,
    cancelled: null,
    runsAgain: false,
    dueAt: new Date(startAt ?? times.dueAt).toISOString(),
    maxAttempts: maxAttempts ?? null,
    failures: 0,
    interruptions: 0,
    sends: row.sendId === null ? 0 : 1,
    postpones: 0,
    postponedFor: null,
    service: null,
    taken: null,
    startedAt: null,
    endedAt: null,
    output: null,
    completedBy: null,
    lastError: null,
    flow: null,
    parentId: parentId ?? null,
    createdAt: times.createdAt.toISOString(),
  };
}
