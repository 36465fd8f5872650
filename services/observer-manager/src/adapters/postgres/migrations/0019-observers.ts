import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * What observers can be and have beyond 0.1.0. Constant defaults, so no row is rewritten; the checks read every observer once, and each index once, under
 * the table's lock: a million in less than a second each.
 * - `pending`: what it is about to be: docs/decisions/0015-pause.md, and changed: 0019
 * - `start_at`, `start_next_at`, `start_problem`, `when_full`: docs/decisions/0018-scheduled-observers.md
 * - `spec_version` and its kin, `message_pool`: docs/decisions/0019-changed-observers.md
 * - `fencing_token`, `requested_run_id`: docs/decisions/0020-admission.md
 * - `silence`, `silent_since`, `restarted_at`: docs/decisions/0021-silence-and-history.md
 * - `rejected_update`: docs/decisions/0022-hot-update.md
 */
const OBSERVERS = [
  `ALTER TABLE observers
     ADD COLUMN pending text,
     ADD COLUMN start_at timestamptz,
     ADD COLUMN start_next_at timestamptz,
     ADD COLUMN start_problem text,
     ADD COLUMN when_full text,
     ADD COLUMN spec_version integer NOT NULL DEFAULT 1,
     ADD COLUMN needed_spec_version integer NOT NULL DEFAULT 1,
     ADD COLUMN sent_spec_version integer NOT NULL DEFAULT 1,
     ADD COLUMN observed_spec_version integer DEFAULT 1,
     ADD COLUMN message_pool text,
     ADD COLUMN fencing_token bigint,
     ADD COLUMN requested_run_id uuid,
     ADD COLUMN silence jsonb,
     ADD COLUMN silent_since timestamptz,
     ADD COLUMN restarted_at timestamptz[] NOT NULL DEFAULT '{}',
     ADD COLUMN rejected_update jsonb,
     DROP CONSTRAINT status_is_known,
     ADD CONSTRAINT status_is_known CHECK (status IN
       ('Created', 'Processing', 'Retrying', 'Redistributing', 'OnDeleting', 'Deleted', 'Failed', 'Completed', 'Paused', 'Scheduled')),
     ADD CONSTRAINT pending_is_known CHECK (pending IN ('pause', 'update')),
     ADD CONSTRAINT only_what_can_be_paused_is_about_to_be CHECK
       (pending IS NULL OR status IN ('Created', 'Processing', 'Retrying', 'Redistributing')),
     ADD CONSTRAINT what_is_scheduled_has_a_time CHECK (status <> 'Scheduled' OR start_next_at IS NOT NULL)`,
  // Runs that are there were given the only version there was (the default); from here on it is written.
  "ALTER TABLE observers ALTER COLUMN observed_spec_version DROP DEFAULT",
  "CREATE INDEX observers_to_start ON observers (start_next_at) WHERE status = 'Scheduled'",
  "CREATE INDEX observers_silent ON observers (pool, silent_since) WHERE silent_since IS NOT NULL AND status = 'Processing'",
  "CREATE INDEX observers_restarted ON observers (modified_at) WHERE cardinality(restarted_at) >= 5",
];

/**
 * `delivery_count`: how often the broker had given a run's message out, as its service told: null of runs of 0.1.0. `interruption`: what ended a run that
 * began again through no fault of its own. `story`: docs/decisions/0021-silence-and-history.md. The check reads every run once.
 */
const RUNS = `
  ALTER TABLE runs
    ADD COLUMN delivery_count integer,
    ADD COLUMN interruption text,
    ADD COLUMN spec_version integer,
    ADD COLUMN fencing_token bigint,
    ADD COLUMN story jsonb NOT NULL DEFAULT '[]',
    DROP CONSTRAINT run_state_is_known,
    ADD CONSTRAINT run_state_is_known CHECK (state IN ('Requested', 'Current', 'Superseded', 'Ended'))`;

const UP = [...OBSERVERS, RUNS];

/**
 * What is Paused or Scheduled has no message: without a status for it, it is over. What waits for an admission is found by an inventory, and ended by it.
 * What is being changed was told to stop, and is sent again by its end as ever; its message is looked for in its new pool.
 */
const DOWN = [
  "UPDATE observers SET status = 'Completed' WHERE status IN ('Paused', 'Scheduled')",
  `ALTER TABLE observers
     DROP COLUMN pending,
     DROP COLUMN start_at,
     DROP COLUMN start_next_at,
     DROP COLUMN start_problem,
     DROP COLUMN when_full,
     DROP COLUMN spec_version,
     DROP COLUMN needed_spec_version,
     DROP COLUMN sent_spec_version,
     DROP COLUMN observed_spec_version,
     DROP COLUMN message_pool,
     DROP COLUMN fencing_token,
     DROP COLUMN requested_run_id,
     DROP COLUMN silence,
     DROP COLUMN silent_since,
     DROP COLUMN restarted_at,
     DROP COLUMN rejected_update,
     DROP CONSTRAINT status_is_known,
     ADD CONSTRAINT status_is_known CHECK (status IN
       ('Created', 'Processing', 'Retrying', 'Redistributing', 'OnDeleting', 'Deleted', 'Failed', 'Completed'))`,
  "UPDATE runs SET state = 'Superseded' WHERE state = 'Requested'",
  `ALTER TABLE runs
     DROP COLUMN delivery_count,
     DROP COLUMN interruption,
     DROP COLUMN spec_version,
     DROP COLUMN fencing_token,
     DROP COLUMN story,
     DROP CONSTRAINT run_state_is_known,
     ADD CONSTRAINT run_state_is_known CHECK (state IN ('Current', 'Superseded', 'Ended'))`,
];

export class Observers0019 implements MigrationInterface {
  name = "Observers1800000000019";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
