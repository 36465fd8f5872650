import type { TaskView } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { sameJson } from "../../../../domain/same-json.ts";
import type { NewTask } from "../../../../operations/tasks/creations/new-task.ts";
import { bytesOfAll, thoseBeyond } from "../../statements/page-bytes.ts";
import { viewsOf } from "../views/task-standings.ts";
import { FIND, FIND_SHORT, type TaskRow } from "../views/task-view.ts";

/** So few never exceed MAX_PAGE_BYTES, however long each is. */
const FEW = 24;

/** Indexes: tasks_pkey, ended_tasks_by_id of each day. */
const SIZES = `
  SELECT id, ${bytesOfAll(["params", "last_error"])} AS bytes FROM tasks WHERE id = ANY($1)
  UNION ALL SELECT id, ${bytesOfAll(["params", "last_error", "output"])} FROM ended_tasks WHERE id = ANY($1)`;

/** The indexes are the same. @returns the places of those whose params are these */
const SAME_PARAMS = `
  SELECT u.place::int FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (id, params, place)
  WHERE EXISTS (SELECT FROM tasks t WHERE t.id = u.id AND t.params = u.params::jsonb)
     OR EXISTS (SELECT FROM ended_tasks t WHERE t.id = u.id AND t.params = u.params::jsonb)`;

/** The indexes are the same. @returns those whose params somebody has changed since (retry-with) */
const EDITED = `
  SELECT id FROM tasks WHERE id = ANY($1) AND story ? 'edits'
  UNION ALL SELECT id FROM ended_tasks WHERE id = ANY($1) AND story ? 'edits'`;

/** Tasks that are there already, met by a creation; `short`: those that are shown without what is long. */
interface FoundTasks {
  views: TaskView[];
  short: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Params and results are read of them all up to what a page of a list has; those beyond are shown without: ten thousand that are asked for
 * again by their ids may have a result of 64 KiB each, which is more than a manager has memory for.
 */
export async function findThere(tx: EntityManager, ids: readonly string[]): Promise<FoundTasks> {
  if (ids.length === 0) return { views: [], short: NONE };
  const short = ids.length > FEW ? thoseBeyond(ids, await tx.query(SIZES, [ids])) : NONE;
  const rows = await tx.query<TaskRow[]>(FIND, [ids.filter((id) => !short.has(id))]);
  if (short.size > 0) rows.push(...(await tx.query<TaskRow[]>(FIND_SHORT, [[...short]])));
  return { views: await viewsOf(tx, rows), short };
}

/**
 * Whether a request may be the one that created what is there: its params are the same, unless somebody has changed them since. Then any
 * will do, as the books may not have those of the creation: they keep those before each of the last five changes, up to 16 KiB. PostgreSQL
 * compares the params of those that are shown without them.
 */
export async function sameParams(
  tx: EntityManager,
  { views, short }: FoundTasks,
  tasks: readonly NewTask[],
): Promise<(task: NewTask, there: TaskView) => boolean> {
  const unseen = tasks.filter(({ id }) => short.has(id));
  const asked = [unseen.map(({ id }) => id), unseen.map(({ params }) => JSON.stringify(params))];
  const rows = unseen.length === 0 ? [] : await tx.query<{ place: number }[]>(SAME_PARAMS, asked);
  const same = new Set(rows.map(({ place }) => unseen[place - 1]));
  const isSame = (task: NewTask, there: TaskView): boolean =>
    short.has(task.id) ? same.has(task) : sameJson(task.params, there.params);
  const byId = new Map(views.map((view) => [view.id, view]));
  const others = tasks.filter((task) => {
    const there = byId.get(task.id);
    return task.key === undefined && there !== undefined && !isSame(task, there);
  });
  const edited = await editedAmong(tx, others);
  return (task, there) => edited.has(task.id) || isSame(task, there);
}

async function editedAmong(tx: EntityManager, tasks: readonly NewTask[]): Promise<ReadonlySet<string>> {
  if (tasks.length === 0) return NONE;
  const rows = await tx.query<{ id: string }[]>(EDITED, [tasks.map(({ id }) => id)]);
  return new Set(rows.map(({ id }) => id));
}
