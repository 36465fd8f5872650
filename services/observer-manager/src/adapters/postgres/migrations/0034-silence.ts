import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0021-silence-and-history.md. Both columns are null in every row that is there: nothing is rewritten. */
const UP = [
  "ALTER TABLE observers ADD COLUMN silence jsonb, ADD COLUMN silent_since timestamptz",
  `CREATE INDEX observers_silent ON observers (pool, silent_since)
     WHERE silent_since IS NOT NULL AND status = 'Processing'`,
];

const DOWN = ["ALTER TABLE observers DROP COLUMN silence, DROP COLUMN silent_since"];

export class Silence0034 implements MigrationInterface {
  name = "Silence1797300000034";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
