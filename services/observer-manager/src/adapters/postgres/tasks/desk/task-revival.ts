import type { TaskId, TaskView } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { besideHeld, LOOK_MS, WAIT_MS, within } from "../../statements/lock-waits.ts";
import { literals } from "../../statements/sql-conditions.ts";
import { counted } from "../ended-task-rows.ts";

/** Tasks that ended in one of these statuses run again when somebody asks for it. */
export const REVIVABLE = ["Failed", "Cancelled"] as const;

/**
 * Makes tasks that ended in one of the statuses $2 Ready again; but not one whose key another has, nor one of a flow, which is run again as
 * a whole. Index: ended_tasks_by_id. @returns those that are
 */
const REVIVED = `
  WITH found AS (
    SELECT * FROM ended_tasks WHERE id = ANY($1) AND status = ANY($2) AND flow_id IS NULL ORDER BY id FOR UPDATE
  ), back AS (
    INSERT INTO tasks (id, type, params, pool, priority, status, due_at, max_attempts, interruptions, sends, last_error, created_at, key, story, parent_id, taken_by, told_send)
    SELECT id, type, params, pool, priority, 'Ready', unacked_now(), max_attempts, interruptions, sends, last_error, created_at, key, story - 'cancelled' - 'lost', parent_id, taken_by, told_send
    FROM found ON CONFLICT DO NOTHING RETURNING id, type, pool
  ), gone AS (DELETE FROM ended_tasks e USING back b WHERE e.id = b.id), ${counted("retried", "back")}
  SELECT id FROM back`;

/**
 * Rows of `ended_tasks` that are of no flow and whose key no other has. The rest stays where it is, and would fill each look for what may
 * run. Index: tasks_key.
 */
export const MAY_RUN_AGAIN =
  "flow_id IS NULL AND (key IS NULL OR NOT EXISTS (SELECT FROM tasks t WHERE t.type = ended_tasks.type AND t.key = ended_tasks.key))";

/** Index: tasks_key. */
const WHO_HAS_KEY = "SELECT id FROM tasks WHERE type = $1 AND key = $2";
/** Index: ended_tasks_by_id. */
const IS_OVER = `SELECT FROM ended_tasks WHERE id = $1 AND status IN (${literals(REVIVABLE)})`;
/** Index: ended_tasks_by_id. */
const KEYED = "SELECT id FROM ended_tasks WHERE id = ANY($1) AND key IS NOT NULL ORDER BY id";

/** If the task that had its key is over when it is looked at, it is tried again: so often, and then the caller is told to come back. */
const MAX_ROUNDS = 20;

export type Revival =
  | { kind: "revived" }
  /** Somebody else has revived it just now. */
  | { kind: "gone" }
  | { kind: "key-taken"; winner: TaskId }
  /** Somebody's open transaction has its key, or the task itself. */
  | { kind: "held-up"; key: string | null };

/** Locks that are waited for as by any statement: somebody who changes, or rewrites, a table has nobody's key, and ends. */
const TABLES = "LOCK TABLE tasks, ended_tasks IN ROW EXCLUSIVE MODE";

/** Runs an ended task of no flow again. Nobody waits for long for a key, as in insertBeside. */
export async function reviveOne(tx: EntityManager, { id, type, key }: TaskView): Promise<Revival> {
  let isWithTables = false;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const revived = await within(tx, isWithTables ? LOOK_MS : WAIT_MS, () => revive(tx, [id as TaskId], REVIVABLE));
    if (revived === undefined && isWithTables) break;
    if (revived === undefined) {
      await tx.query(TABLES);
      isWithTables = true;
      continue;
    }
    if (revived.length > 0) return { kind: "revived" };
    const [winner] = key === null ? [] : await tx.query<{ id: TaskId }[]>(WHO_HAS_KEY, [type, key]);
    if (winner !== undefined && winner.id !== id) return { kind: "key-taken", winner: winner.id };
    if ((await tx.query<unknown[]>(IS_OVER, [id])).length === 0) return { kind: "gone" };
  }
  return { kind: "held-up", key };
}

/**
 * Runs those again that ended in one of these statuses. If an application's transaction keeps a key of theirs for longer, they are tried in
 * portions, and those whose keys are kept stay as they are. @returns which run
 */
export async function reviveMany(tx: EntityManager, ids: TaskId[], statuses: readonly string[]): Promise<TaskId[]> {
  if (statuses.length === 0) return [];
  const together = await within(tx, WAIT_MS, () => revive(tx, ids, statuses));
  if (together !== undefined) return together;
  await tx.query(TABLES);
  const keyed = (await tx.query<{ id: TaskId }[]>(KEYED, [ids])).map(({ id }) => id);
  const withKeys = new Set(keyed);
  const free = ids.filter((id) => !withKeys.has(id));
  const revived = await revive(tx, free, statuses);
  const work = (some: TaskId[]) => revive(tx, some, statuses);
  return [...revived, ...(await besideHeld(tx, keyed, { waitMs: WAIT_MS, work, held: [] }))];
}

async function revive(tx: EntityManager, ids: TaskId[], statuses: readonly string[]): Promise<TaskId[]> {
  return (await tx.query<{ id: TaskId }[]>(REVIVED, [ids, statuses])).map(({ id }) => id);
}
