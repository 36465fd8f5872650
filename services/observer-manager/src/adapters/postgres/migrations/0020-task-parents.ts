import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0039-handlers-wishes.md. `parent_id`: the task whose handler created it; of most null. */
const UP = ["ALTER TABLE tasks ADD COLUMN parent_id uuid", "ALTER TABLE ended_tasks ADD COLUMN parent_id uuid"];

const DOWN = ["ALTER TABLE ended_tasks DROP COLUMN parent_id", "ALTER TABLE tasks DROP COLUMN parent_id"];

export class TaskParents0020 implements MigrationInterface {
  name = "TaskParents1795800000020";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
