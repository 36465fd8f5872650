import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * A pool that few tasks have was looked for among all that have ended: a fifth of a second for a million. Without the id, as what was created together
 * has one time and is kept as one entry: 1.2 µs an end, of some 480.
 */
export class EndedTasksOfPool0050 implements MigrationInterface {
  name = "EndedTasksOfPool1797900000050";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("CREATE INDEX ended_tasks_of_pool ON ended_tasks (pool, created_at DESC)");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DROP INDEX ended_tasks_of_pool");
  }
}
