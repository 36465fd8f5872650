import type { MigrationInterface, QueryRunner } from "typeorm";

/** Why a service takes no observers for now. */
export class NotConsuming0013 implements MigrationInterface {
  name = "NotConsuming1795300000013";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE services ADD COLUMN not_consuming text");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE services DROP COLUMN not_consuming");
  }
}
