import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * Events that no manager has understood so far, each whole, in a batch of its own. Each belongs to an error, and goes with it: at
 * the latest with the retention (RETENTION_DAYS). While one is there nothing is repaired about the observers that it names.
 */
const ERRORS = [
  `CREATE TABLE unapplied_events (
     position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     error_message_id uuid NOT NULL REFERENCES errors (message_id) ON DELETE CASCADE,
     observer_ids uuid[] NOT NULL,
     batch text NOT NULL
   )`,
  "CREATE UNIQUE INDEX unapplied_events_of_message ON unapplied_events (error_message_id)",
  "CREATE INDEX unapplied_events_of_observers ON unapplied_events USING gin (observer_ids)",
];

const authenticationIsOne = (ways: string): string =>
  `ALTER TABLE audit DROP CONSTRAINT authentication_is_known,
     ADD CONSTRAINT authentication_is_known CHECK (authentication IN (${ways}))`;

const roleIsOne = (roles: string): string =>
  `ALTER TABLE audit DROP CONSTRAINT role_is_known, ADD CONSTRAINT role_is_known CHECK (role IN (${roles}))`;

/**
 * What a manager does about a service's report (`broker`) or at a schedule's time has no caller, and is audited all the same; who calls
 * `unacked_create_task` is known to the `database`.
 *
 * `audit_of_deed`: what is done seldom was looked for among all that was done: 0.7 to 1 s for three million entries, and more than a statement may
 * take for thirty. Without the id, as what is done in one transaction has one time. Check and index read all entries, under the table's lock.
 */
const AUDIT = [
  authenticationIsOne("'token', 'oidc', 'anonymous', 'broker', 'database', 'schedule'"),
  roleIsOne("'taker', 'viewer', 'operator', 'admin'"),
  "CREATE INDEX audit_of_deed ON audit (deed, at DESC)",
];

const UP = [...ERRORS, ...AUDIT];

const DOWN = [
  "DROP INDEX audit_of_deed",
  "DELETE FROM audit WHERE authentication IN ('broker', 'database', 'schedule') OR role = 'taker'",
  roleIsOne("'viewer', 'operator', 'admin'"),
  authenticationIsOne("'token', 'oidc', 'anonymous'"),
  "DROP TABLE unapplied_events",
];

export class ErrorsAndAudit0021 implements MigrationInterface {
  name = "ErrorsAndAudit1800000000021";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
