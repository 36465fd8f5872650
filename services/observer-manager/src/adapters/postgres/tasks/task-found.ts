import type { TaskView } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { sameJson } from "../../../domain/same-json.ts";
import type { NewTask } from "../../../operations/tasks/task-store.ts";
import { bytesOfAll, thoseBeyond } from "../statements/page-bytes.ts";
import { viewsOf } from "./task-standings.ts";
import { FIND, FIND_SHORT, type TaskRow } from "./task-view.ts";

/** So few are no more than MAX_PAGE_BYTES, however long each is. */
const FEW = 24;

/** Indexes: tasks_pkey, ended_tasks_by_id of each day. */
const SIZES = `
  SELECT id, ${bytesOfAll(["params", "last_error"])} AS bytes FROM tasks WHERE id = ANY($1)
  UNION ALL SELECT id, ${bytesOfAll(["params", "last_error", "output"])} FROM ended_tasks WHERE id = ANY($1)`;

/** Likewise. @returns the places of those whose params are these */
const SAME_PARAMS = `
  SELECT u.place::int FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (id, params, place)
  WHERE EXISTS (SELECT FROM tasks t WHERE t.id = u.id AND t.params = u.params::jsonb)
     OR EXISTS (SELECT FROM ended_tasks t WHERE t.id = u.id AND t.params = u.params::jsonb)`;

/** Tasks that are there already, met by a creation; `short`: those that are shown without what is long. */
interface FoundTasks {
  views: TaskView[];
  short: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * As much as a page of a list has of what is long, params and results, is read of them all; those beyond are shown without: ten thousand that
 * are asked for again by their ids may have a result of 64 KiB each, which is more than a manager has memory for.
 */
export async function findThere(tx: EntityManager, ids: readonly string[]): Promise<FoundTasks> {
  if (ids.length === 0) return { views: [], short: NONE };
  const short = ids.length > FEW ? thoseBeyond(ids, await tx.query(SIZES, [ids])) : NONE;
  const rows = await tx.query<TaskRow[]>(FIND, [ids.filter((id) => !short.has(id))]);
  if (short.size > 0) rows.push(...(await tx.query<TaskRow[]>(FIND_SHORT, [[...short]])));
  return { views: await viewsOf(tx, rows), short };
}

/** Whether one asks for the params of that which is there: of what is shown without them PostgreSQL says it. */
export async function sameParams(
  tx: EntityManager,
  { short }: FoundTasks,
  tasks: readonly NewTask[],
): Promise<(task: NewTask, there: TaskView) => boolean> {
  const unseen = tasks.filter(({ id }) => short.has(id));
  const asked = [unseen.map(({ id }) => id), unseen.map(({ params }) => JSON.stringify(params))];
  const rows = unseen.length === 0 ? [] : await tx.query<{ place: number }[]>(SAME_PARAMS, asked);
  const same = new Set(rows.map(({ place }) => unseen[place - 1]));
  return (task, there) => (short.has(task.id) ? same.has(task) : sameJson(task.params, there.params));
}
