import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * What a service said last of its slots (a few hundred bytes each) and of the last five of them that ended, and what ended
 * a run that began again through no fault of its own. Defaults that are constants: no row is rewritten.
 */
const UP = [
  `ALTER TABLE services ADD COLUMN slots jsonb NOT NULL DEFAULT '[]',
                        ADD COLUMN slot_deaths jsonb NOT NULL DEFAULT '[]',
                        ADD COLUMN slot_deaths_lately integer NOT NULL DEFAULT 0`,
  "ALTER TABLE runs ADD COLUMN interruption text",
];

const DOWN = [
  "ALTER TABLE runs DROP COLUMN interruption",
  "ALTER TABLE services DROP COLUMN slots, DROP COLUMN slot_deaths, DROP COLUMN slot_deaths_lately",
];

export class Slots0012 implements MigrationInterface {
  name = "Slots1795200000012";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
