import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0021-silence-and-history.md. Constant defaults: no row is rewritten. */
const UP = [
  "ALTER TABLE observers ADD COLUMN restarted_at timestamptz[] NOT NULL DEFAULT '{}'",
  "CREATE INDEX observers_restarted ON observers (modified_at) WHERE cardinality(restarted_at) >= 5",
  "ALTER TABLE runs ADD COLUMN story jsonb NOT NULL DEFAULT '[]'",
];

const DOWN = ["ALTER TABLE runs DROP COLUMN story", "ALTER TABLE observers DROP COLUMN restarted_at"];

export class History0037 implements MigrationInterface {
  name = "History1797400000037";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
