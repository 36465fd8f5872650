import type { MigrationInterface, QueryRunner } from "typeorm";

/** Why the last step of a work could not be done; null: it could, or none was tried. */
export class WorksProblem0056 implements MigrationInterface {
  name = "WorksProblem1798400000056";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE works ADD COLUMN problem text");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE works DROP COLUMN problem");
  }
}
