import type { MigrationInterface, QueryRunner } from "typeorm";

const KINDS = ["start", "stop", "stop-run", "restart-run", "report-inventory", "probe", "drain"];
const RUN_STATES = ["Current", "Superseded", "Ended"];

const listed = (words: string[]): string => words.map((word) => `'${word}'`).join(", ");

const KINDS_ARE = (kinds: string[]): string[] => [
  "ALTER TABLE commands DROP CONSTRAINT command_kind_is_known",
  `ALTER TABLE commands ADD CONSTRAINT command_kind_is_known CHECK (kind IN (${listed(kinds)}))`,
];

const STATES_ARE = (states: string[]): string[] => [
  "ALTER TABLE runs DROP CONSTRAINT run_state_is_known",
  `ALTER TABLE runs ADD CONSTRAINT run_state_is_known CHECK (state IN (${listed(states)}))`,
];

/**
 * docs/decisions/0020-admission.md. The columns have no default, so no row is written; the checks read every run and every command
 * once, under their tables' locks: a million runs in less than a second.
 */
const UP = [
  "ALTER TABLE observers ADD COLUMN fencing_token bigint, ADD COLUMN requested_run_id uuid",
  "ALTER TABLE runs ADD COLUMN fencing_token bigint",
  ...STATES_ARE(["Requested", ...RUN_STATES]),
  ...KINDS_ARE([...KINDS, "admit", "tell-checkpoint"]),
  `ALTER TABLE commands ADD CONSTRAINT admission_is_of_a_run CHECK
     (kind NOT IN ('admit', 'tell-checkpoint') OR (observer_id IS NOT NULL AND run_id IS NOT NULL AND message_id IS NOT NULL AND revision IS NOT NULL))`,
  "CREATE UNIQUE INDEX commands_one_of_admission ON commands (run_id, kind) WHERE kind IN ('admit', 'tell-checkpoint')",
  `CREATE TABLE checkpoints (
     run_id uuid PRIMARY KEY,
     observer_id uuid NOT NULL,
     epoch bigint NOT NULL,
     is_started boolean NOT NULL,
     number bigint NOT NULL,
     value text,
     saved_at timestamptz NOT NULL DEFAULT now(),
     previous_number bigint,
     previous_value text,
     previous_saved_at timestamptz
   )`,
  "CREATE INDEX checkpoints_of_observer ON checkpoints (observer_id, epoch DESC)",
];

/** Checkpoints are lost by it. What waits for an admission is found by an inventory, and ended by it. */
const DOWN = [
  "DROP TABLE checkpoints",
  "DROP INDEX commands_one_of_admission",
  "DELETE FROM commands WHERE kind IN ('admit', 'tell-checkpoint')",
  "ALTER TABLE commands DROP CONSTRAINT admission_is_of_a_run",
  ...KINDS_ARE(KINDS),
  "UPDATE runs SET state = 'Superseded' WHERE state = 'Requested'",
  ...STATES_ARE(RUN_STATES),
  "ALTER TABLE runs DROP COLUMN fencing_token",
  "ALTER TABLE observers DROP COLUMN fencing_token, DROP COLUMN requested_run_id",
];

export class Admission0033 implements MigrationInterface {
  name = "Admission1797500000033";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
