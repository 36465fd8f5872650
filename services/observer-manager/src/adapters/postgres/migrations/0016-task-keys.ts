import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0037-task-keys.md. `next_params`: of a newer request with its key; it runs with them when its run ends. */
const UP = [
  "ALTER TABLE tasks ADD COLUMN key text, ADD COLUMN next_params jsonb",
  "ALTER TABLE ended_tasks ADD COLUMN key text",
  "CREATE UNIQUE INDEX tasks_key ON tasks (type, key) WHERE key IS NOT NULL",
];

const DOWN = [
  "DROP INDEX tasks_key",
  "ALTER TABLE ended_tasks DROP COLUMN key",
  "ALTER TABLE tasks DROP COLUMN key, DROP COLUMN next_params",
];

export class TaskKeys0016 implements MigrationInterface {
  name = "TaskKeys1795400000016";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
