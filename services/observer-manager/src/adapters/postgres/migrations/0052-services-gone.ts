import type { MigrationInterface, QueryRunner } from "typeorm";

/** Who went without a word lately is looked for whenever the warnings are read; rows of services are kept for weeks. */
export class ServicesGone0052 implements MigrationInterface {
  name = "ServicesGone1798000000052";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("CREATE INDEX services_gone ON services (ended_at) WHERE state = 'Gone'");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DROP INDEX services_gone");
  }
}
