import type { EntityManager } from "typeorm";
import type { TaskNews } from "../../../../domain/tasks/task-words.ts";
import type { UnwantedSend } from "../../../../operations/tasks/unwanted-send.ts";

/** Index: tasks_pkey. */
const NOT_THERE = `
  SELECT send_id AS "sendId" FROM unnest($1::uuid[], $2::uuid[]) AS u (id, send_id)
  WHERE NOT EXISTS (SELECT FROM tasks t WHERE t.id = u.id AND t.send_id = u.send_id)`;

/** Running sends that are not current: the task is over in the books, or was sent again, or they never heard of it. */
export async function unwantedOf(tx: EntityManager, running: TaskNews["running"]): Promise<UnwantedSend[]> {
  if (running.length === 0) return [];
  const parameters = [running.map(({ taskId }) => taskId), running.map(({ sendId }) => sendId)];
  const rows = await tx.query<Pick<UnwantedSend, "sendId">[]>(NOT_THERE, parameters);
  const isUnwanted = new Set(rows.map(({ sendId }) => sendId));
  return running.filter(({ sendId }) => isUnwanted.has(sendId));
}
