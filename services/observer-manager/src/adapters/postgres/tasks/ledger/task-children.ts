import type { TaskId, TaskView } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { jsonPortions } from "../../../../domain/json-portions.ts";
import { allInOrder } from "../../../../operations/all-in-order.ts";
import { heldOf, ofOtherPool } from "../../../../operations/tasks/creations/creation-check.ts";
import type { InsertOutcome } from "../../../../operations/tasks/creations/insert-outcome.ts";
import type { NewTask } from "../../../../operations/tasks/creations/new-task.ts";
import type { RefusedCreation, SendCreations } from "../../../../operations/tasks/ledger/task-ledger-store.ts";
import { SHORT_WAIT_MS, WAIT_MS } from "../../statements/lock-waits.ts";
import { isRefused } from "../../statements/refused.ts";
import { countCreated } from "../creations/task-created.ts";
import { insertBeside } from "../creations/task-insert-beside.ts";

/** Adds to a task's story what became of those that its handler wanted to create; over or not. Indexes: tasks_pkey, ended_tasks_by_id. */
const CHILDREN_TOLD = `
  WITH told AS (SELECT * FROM unnest($1::uuid[], $2::text[]) AS u (id, story)),
  live AS (UPDATE tasks t SET story = coalesce(t.story, '{}') || u.story::jsonb FROM told u WHERE t.id = u.id AND t.id = ANY($1))
  UPDATE ended_tasks t SET story = coalesce(t.story, '{}') || u.story::jsonb FROM told u WHERE t.id = u.id AND t.id = ANY($1)`;

/** A task that has completed, and what it creates. */
export interface CreatingTask extends SendCreations {
  taskId: TaskId;
}

/**
 * Creates them in the transaction of the ends. All go at once, as nearly always nothing is refused; if the database refuses something of
 * it, each goes under a savepoint of its own. What cannot be created stands in its creator's story; so does at once what needs a key, or an
 * id, that somebody's open transaction has: waiting for it as elsewhere would hold up the ends of all pools for four seconds, again and
 * again while that is open.
 */
export async function createChildren(tx: EntityManager, creating: CreatingTask[]): Promise<void> {
  if (creating.length === 0) return;
  const wanted = creating.flatMap((task) => task.wanted);
  const outcomes = await insertEach(tx, wanted, SHORT_WAIT_MS);
  const byTask = new Map(wanted.map((task, i) => [task, outcomes[i] as Outcome]));
  const stories = creating.map(({ wanted: own, refused }) => {
    const created = own.flatMap((task): Created[] => {
      const outcome = byTask.get(task);
      return outcome !== undefined && "task" in outcome ? [{ id: outcome.id, type: task.type, outcome: outcome.kind }] : [];
    });
    const others = own.flatMap((task) => refusalOf(task, byTask.get(task)) ?? []);
    return JSON.stringify({ created, refused: [...refused, ...others] });
  });
  await tx.query(CHILDREN_TOLD, [creating.map(({ taskId }) => taskId), stories]);
}

type Outcome = InsertOutcome | { kind: "refused" };
type Created = NonNullable<TaskView["created"]>[number];

/**
 * A limit of the params in one statement. A schedule may catch up a thousand times of 256 KiB: together, they took a manager 1.7 GB of
 * memory, and PostgreSQL nearly as long as it gives a statement. What fails by that fails again when it is tried again, at any manager.
 */
const MAX_PARAMS_CHARS = 16_777_216;

/**
 * Creates them in a transaction that goes on if one is refused; outcomes are in the order given. @param waitMs for a key that another one
 * has
 */
export async function insertEach(tx: EntityManager, tasks: NewTask[], waitMs = WAIT_MS): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const some of jsonPortions(tasks, ({ params }) => params, MAX_PARAMS_CHARS))
    outcomes.push(...((await inserted(tx, some, waitMs)) ?? (await oneByOne(tx, some, waitMs))));
  return outcomes;
}

/** @returns undefined: the database refuses something of it, and nothing is changed */
async function inserted(tx: EntityManager, tasks: NewTask[], waitMs: number): Promise<InsertOutcome[] | undefined> {
  if (tasks.length === 0) return [];
  await tx.query("SAVEPOINT creations");
  try {
    const asked = tasks.map((task) => ({ task, action: undefined, isShown: false }));
    const outcomes = await countCreated(tx, asked, await insertBeside(tx, asked, undefined, undefined, waitMs));
    await tx.query("RELEASE SAVEPOINT creations");
    return outcomes;
  } catch (error) {
    if (!isRefused(error)) throw error;
    // If this stayed open, the next one would be within it.
    await allInOrder([tx.query("ROLLBACK TO SAVEPOINT creations"), tx.query("RELEASE SAVEPOINT creations")]);
    return undefined;
  }
}

async function oneByOne(tx: EntityManager, tasks: NewTask[], waitMs: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const task of tasks) outcomes.push((await inserted(tx, [task], waitMs))?.[0] ?? { kind: "refused" });
  return outcomes;
}

function refusalOf({ id, type, key }: NewTask, outcome: Outcome | undefined): RefusedCreation | undefined {
  switch (outcome?.kind) {
    case "taken":
      return { id, type, code: "id-taken", detail: "another task has this id" };
    case "key-taken":
      return { id, type, code: "key-taken", detail: `the task ${outcome.winner} has the key "${key}"` };
    case "key-elsewhere":
      return { id, type, code: "forbidden", detail: ofOtherPool(key) };
    case "held-up":
      return key === undefined
        ? { id, type, code: "id-taken", detail: `a transaction that has not ended has ${heldOf({ id })}` }
        : { id, type, code: "key-taken", detail: `a transaction that has not ended has ${heldOf({ key })}` };
    case "refused":
      return { id, type, code: "refused-by-database", detail: "PostgreSQL refuses a value of it" };
    default:
      return undefined;
  }
}
