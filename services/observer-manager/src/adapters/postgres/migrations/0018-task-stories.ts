import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0039-handlers-wishes.md. `story`: what few tasks have, so that the others pay for one null:
 * `postpones`, `postponedFor`, `completedBy`.
 */
const UP = ["ALTER TABLE tasks ADD COLUMN story jsonb", "ALTER TABLE ended_tasks ADD COLUMN story jsonb"];

const DOWN = ["ALTER TABLE ended_tasks DROP COLUMN story", "ALTER TABLE tasks DROP COLUMN story"];

export class TaskStories0018 implements MigrationInterface {
  name = "TaskStories1795600000018";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
