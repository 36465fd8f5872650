import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0020-admission.md: what all managers have been seen to know, so that one that starts need not watch them for it again. */
const UP = `
  CREATE TABLE known_features (
    feature text PRIMARY KEY,
    known_at timestamptz NOT NULL DEFAULT now()
  )`;

export class KnownFeatures0041 implements MigrationInterface {
  name = "KnownFeatures1797700000041";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DROP TABLE known_features");
  }
}
