import type { MigrationInterface, QueryRunner } from "typeorm";

/** What a service could not load of its folder of observers, as it said with its birth: at most 20 files a service. */
const UP = ["ALTER TABLE services ADD COLUMN broken_files jsonb NOT NULL DEFAULT '[]'"];

const DOWN = ["ALTER TABLE services DROP COLUMN broken_files"];

export class BrokenFiles0009 implements MigrationInterface {
  name = "BrokenFiles1795200000009";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
