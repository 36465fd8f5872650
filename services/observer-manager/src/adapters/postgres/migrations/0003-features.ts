import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * What services and managers announce that they can do. A manager renews its row every few seconds and takes it away when it ends;
 * each renewal removes those of managers that are silent. One of 0.1.0 has none.
 */
const UP = [
  "ALTER TABLE services ADD COLUMN features jsonb NOT NULL DEFAULT '[]'",
  `CREATE TABLE managers (
     id uuid PRIMARY KEY,
     version text NOT NULL,
     features jsonb NOT NULL,
     is_consuming boolean NOT NULL,
     started_at timestamptz NOT NULL DEFAULT now(),
     seen_at timestamptz NOT NULL DEFAULT now()
   )`,
];
const DOWN = ["DROP TABLE managers", "ALTER TABLE services DROP COLUMN features"];

export class Features0003 implements MigrationInterface {
  name = "Features1795200000003";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
