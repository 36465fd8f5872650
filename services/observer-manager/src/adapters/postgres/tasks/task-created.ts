import type { EntityManager } from "typeorm";
import type { InsertOutcome, NewTask } from "../../../operations/tasks/task-store.ts";
import { prepared } from "../connection/prepared.ts";
import type { Unawaited } from "../connection/transaction.ts";

const COUNT = prepared(`
  INSERT INTO task_figure_deltas (type, pool, created)
  SELECT type, pool, count(*) FROM unnest($1::text[], $2::text[]) AS c (type, pool) GROUP BY 1, 2`);

/** Adds to the figures which of these were created just now, in the same transaction; at its commit, with `unawaited`. @returns the same */
export async function countCreated(
  tx: EntityManager,
  asked: readonly { task: NewTask }[],
  outcomes: InsertOutcome[],
  unawaited?: Unawaited,
): Promise<InsertOutcome[]> {
  const created = asked.flatMap(({ task }, i) => (outcomes[i]?.kind === "created" ? [task] : []));
  if (created.length === 0) return outcomes;
  const counted = tx.query(COUNT, [created.map(({ type }) => type), created.map(({ pool }) => pool)]);
  if (unawaited === undefined) await counted;
  else unawaited.add(counted);
  return outcomes;
}
