import type { MigrationInterface, QueryRunner } from "typeorm";

/** How often the broker had given a run's message out, as its service told: null of runs of 0.1.0. */
export class DeliveryCount0006 implements MigrationInterface {
  name = "DeliveryCount1700000000006";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE runs ADD COLUMN delivery_count integer");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE runs DROP COLUMN delivery_count");
  }
}
