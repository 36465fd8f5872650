import type { MigrationInterface, QueryRunner } from "typeorm";

/** What is seldom, such as what failed, was looked for among all flows, and counted among all, each 2 s for each page that shows it. */
export class FlowsByStatus0060 implements MigrationInterface {
  name = "FlowsByStatus1798800000060";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("CREATE INDEX flows_by_status ON flows (status, created_at DESC, id DESC)");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DROP INDEX flows_by_status");
  }
}
