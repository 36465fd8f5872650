import type { DataSource } from "typeorm";
import type { RetainedKind, RetentionStore } from "../../flows/retention.ts";

const AGO = "now() - $1 * interval '1 millisecond'";

/** SKIP LOCKED: two managers sweep side by side. */
const REMOVE: Record<RetainedKind, string> = {
  // Indexes: observers_deleted, and runs_of_observer for the cascade.
  observers: `DELETE FROM observers WHERE id IN (
    SELECT id FROM observers WHERE status = 'Deleted' AND modified_at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  // Index: runs_ended.
  runs: `DELETE FROM runs WHERE id IN (
    SELECT id FROM runs WHERE state = 'Ended' AND ended_at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  services: `DELETE FROM services WHERE id IN (
    SELECT id FROM services WHERE ended_at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  // Index: errors_by_time.
  errors: `DELETE FROM errors WHERE id IN (SELECT id FROM errors WHERE at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  // Index: audit_newest.
  audit: `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

export class PostgresRetentionStore implements RetentionStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async removeOld(kind: RetainedKind, olderThanMs: number, limit: number): Promise<number> {
    const [, removed] = await this.#dataSource.query<[unknown[], number]>(REMOVE[kind], [olderThanMs, limit]);
    return removed;
  }
}
