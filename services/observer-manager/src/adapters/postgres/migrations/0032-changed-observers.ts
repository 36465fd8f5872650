import type { MigrationInterface, QueryRunner } from "typeorm";

const PENDING = (known: string): string[] => [
  "ALTER TABLE observers DROP CONSTRAINT pending_is_known",
  `ALTER TABLE observers ADD CONSTRAINT pending_is_known CHECK (pending IN (${known}))`,
];

/** docs/decisions/0019-changed-observers.md. Constant defaults: no row is rewritten. The check reads every observer once. */
const UP = [
  ...PENDING("'pause', 'update'"),
  `ALTER TABLE observers ADD COLUMN spec_version integer NOT NULL DEFAULT 1, ADD COLUMN needed_spec_version integer NOT NULL DEFAULT 1,
     ADD COLUMN sent_spec_version integer NOT NULL DEFAULT 1, ADD COLUMN observed_spec_version integer DEFAULT 1,
     ADD COLUMN message_pool text`,
  // What runs already was given what there was; from here on it is written.
  "ALTER TABLE observers ALTER COLUMN observed_spec_version DROP DEFAULT",
  "ALTER TABLE runs ADD COLUMN spec_version integer",
];

/** What is being changed was told to stop, and is sent again by its end as ever; its message is looked for in its new pool. */
const DOWN = [
  "UPDATE observers SET pending = NULL WHERE pending = 'update'",
  ...PENDING("'pause'"),
  `ALTER TABLE observers DROP COLUMN spec_version, DROP COLUMN needed_spec_version, DROP COLUMN sent_spec_version,
     DROP COLUMN observed_spec_version, DROP COLUMN message_pool`,
  "ALTER TABLE runs DROP COLUMN spec_version",
];

export class ChangedObservers0032 implements MigrationInterface {
  name = "ChangedObservers1797600000032";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
