import type { DataSource } from "typeorm";
import type { RetainedKind, RetentionStore } from "../../../operations/books/retention.ts";
import { foldCounts } from "../observers/observer-counts.ts";
import { FORGET_RUN_FIGURES } from "../observers/run-figures.ts";

const AGO = "now() - $1 * interval '1 millisecond'";

/** SKIP LOCKED: two managers sweep side by side. */
const REMOVE: Record<RetainedKind, string> = {
  // Indexes: observers_deleted, runs_of_observer and checkpoints_of_observer for what is theirs.
  observers: `WITH gone AS (
      DELETE FROM observers WHERE id IN (
        SELECT id FROM observers WHERE status = 'Deleted' AND modified_at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING id
    ), their_runs AS (DELETE FROM runs WHERE observer_id IN (SELECT id FROM gone)),
      their_checkpoints AS (DELETE FROM checkpoints WHERE observer_id IN (SELECT id FROM gone))
    SELECT id FROM gone`,
  // Index: runs_ended.
  runs: `DELETE FROM runs WHERE id IN (
    SELECT id FROM runs WHERE state = 'Ended' AND ended_at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  services: `DELETE FROM services WHERE id IN (
    SELECT id FROM services WHERE ended_at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  // Index: errors_by_time.
  errors: `DELETE FROM errors WHERE id IN (SELECT id FROM errors WHERE at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  // Index: audit_newest.
  audit: `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  // Index: unknown_runs_by_time.
  "unknown runs": `DELETE FROM unknown_runs WHERE run_id IN (
    SELECT run_id FROM unknown_runs WHERE ordered_at < ${AGO} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

/**
 * Ids count up. Errors of the excluded reasons stay: their bodies are what was lost, and it can be recorded from them. An error with an
 * event that is kept for a manager that understands it stays, too: they go together. Indexes: errors_pkey, unapplied_events_of_message.
 */
const REMOVE_EXCESS_ERRORS = `DELETE FROM errors WHERE id IN (
    SELECT id FROM errors e
    WHERE id < (SELECT min(id) FROM (SELECT id FROM errors ORDER BY id DESC LIMIT $1) newest) AND reason <> ALL('{unknown-observer,lost-in-failover}')
      AND NOT EXISTS (SELECT FROM unapplied_events u WHERE u.error_message_id = e.message_id)
    ORDER BY id LIMIT $2 FOR UPDATE OF e SKIP LOCKED)`;

export class PostgresRetentionStore implements RetentionStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async removeOld(kind: RetainedKind, olderThanMs: number, limit: number): Promise<number> {
    const answer = await this.#dataSource.query<unknown[]>(REMOVE[kind], [olderThanMs, limit]);
    // TypeORM answers a DELETE with [rows, count], a SELECT with its rows.
    return kind === "observers" ? answer.length : Number(answer[1]);
  }

  async removeExcessErrors(most: number, limit: number): Promise<number> {
    const [, removed] = await this.#dataSource.query<[unknown[], number]>(REMOVE_EXCESS_ERRORS, [most, limit]);
    return removed;
  }

  async forgetFigures(limit: number): Promise<number> {
    const [, gone] = await this.#dataSource.query<[unknown[], number]>(FORGET_RUN_FIGURES, [limit]);
    return gone;
  }

  foldCounts(): Promise<void> {
    return foldCounts(this.#dataSource);
  }
}
