import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * Which runs the manager has ordered to stop because the books did not have their observer: only such an observer is taken
 * back when its message is reported. The order itself (`commands`) is forgotten as soon as it was followed, and the report
 * may be read later. `pool` is that of the service as the books knew it then.
 */
const UP = [
  `CREATE TABLE unknown_runs (
     run_id uuid PRIMARY KEY,
     observer_id uuid NOT NULL,
     message_id uuid NOT NULL,
     revision integer NOT NULL,
     service_id uuid NOT NULL,
     service_name text NOT NULL,
     pool text NOT NULL,
     ordered_at timestamptz NOT NULL DEFAULT now()
   )`,
  "CREATE INDEX unknown_runs_by_time ON unknown_runs (ordered_at)",
  // What a manager does about a service's report has no caller, and is audited all the same.
  "ALTER TABLE audit DROP CONSTRAINT authentication_is_known",
  `ALTER TABLE audit ADD CONSTRAINT authentication_is_known CHECK (authentication IN ('token', 'oidc', 'anonymous', 'broker'))`,
];

const DOWN = [
  "DROP TABLE unknown_runs",
  "DELETE FROM audit WHERE authentication = 'broker'",
  "ALTER TABLE audit DROP CONSTRAINT authentication_is_known",
  `ALTER TABLE audit ADD CONSTRAINT authentication_is_known CHECK (authentication IN ('token', 'oidc', 'anonymous'))`,
];

export class UnknownRuns0002 implements MigrationInterface {
  name = "UnknownRuns1795200000002";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
