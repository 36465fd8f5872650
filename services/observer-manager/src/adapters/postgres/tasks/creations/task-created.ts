import type { EntityManager } from "typeorm";
import type { InsertOutcome } from "../../../../operations/tasks/creations/insert-outcome.ts";
import type { NewTask } from "../../../../operations/tasks/creations/new-task.ts";
import type { Unawaited } from "../../connection/transaction.ts";
import { prepared } from "../../statements/prepared.ts";
import { keyOf } from "../views/task-standings.ts";

const COUNT = prepared(`
  INSERT INTO task_figure_deltas (type, pool, created)
  SELECT type, pool, created FROM unnest($1::text[], $2::text[], $3::int[]) AS c (type, pool, created)`);

/** Adds those that were created just now to the figures, in the same transaction; with `unawaited` by its commit. @returns `outcomes` */
export async function countCreated(
  tx: EntityManager,
  asked: readonly { task: NewTask }[],
  outcomes: InsertOutcome[],
  unawaited?: Unawaited,
): Promise<InsertOutcome[]> {
  const counts = new Map<string, { type: string; pool: string; created: number }>();
  for (const [i, { task }] of asked.entries()) {
    if (outcomes[i]?.kind !== "created") continue;
    const { type, pool } = task;
    const key = keyOf(task);
    const count = counts.get(key) ?? { type, pool, created: 0 };
    count.created += 1;
    counts.set(key, count);
  }
  if (counts.size === 0) return outcomes;
  const rows = [...counts.values()];
  const counted = tx.query(COUNT, [rows.map((c) => c.type), rows.map((c) => c.pool), rows.map((c) => c.created)]);
  if (unawaited === undefined) await counted;
  else unawaited.add(counted);
  return outcomes;
}
