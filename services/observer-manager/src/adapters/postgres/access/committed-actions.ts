import type { DataSource, EntityManager, EntitySubscriberInterface, QueryRunner } from "typeorm";
import type { ActionDone } from "../../../operations/access/audit.ts";

/** What transactions that have not committed yet have done. */
const doneIn = new WeakMap<QueryRunner, ActionDone[]>();

/** Whoever records actions calls this. Those of a transaction that is rolled back are never told. */
export function noteDone({ queryRunner }: EntityManager, done: readonly ActionDone[]): void {
  if (queryRunner === undefined) return;
  doneIn.set(queryRunner, [...(doneIn.get(queryRunner) ?? []), ...done]);
}

/** @param heard is called with what a transaction has done, once it has committed */
export function onActionsCommitted(dataSource: DataSource, heard: (done: readonly ActionDone[]) => void): void {
  const subscriber: EntitySubscriberInterface = {
    afterTransactionCommit({ queryRunner }) {
      if (queryRunner.isTransactionActive) return; // only a savepoint was released
      const done = doneIn.get(queryRunner);
      doneIn.delete(queryRunner);
      if (done !== undefined) heard(done);
    },
  };
  dataSource.subscribers.push(subscriber);
}

/**
 * Bulk work that is there is at a place before what is missing of it, and goes on from there. Index: audit_pkey. All of `works` is read once,
 * a row for each work that somebody has begun within the retention.
 */
const MISSING = `
  SELECT u.id FROM unnest($1::uuid[], $2::int[]) AS u (id, count)
  WHERE NOT EXISTS (SELECT FROM audit WHERE audit.id = u.id AND audit.count >= u.count)
    AND NOT EXISTS (SELECT FROM works WHERE works.audit_id = u.id)`;

export async function missingActions(
  dataSource: DataSource,
  actions: { id: string; count: number }[],
): Promise<ReadonlySet<string>> {
  const values = [actions.map(({ id }) => id), actions.map(({ count }) => count)];
  const rows = await dataSource.query<{ id: string }[]>(MISSING, values);
  return new Set(rows.map(({ id }) => id));
}
