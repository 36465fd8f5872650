import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0013-creation-over-amqp.md: what was decided of a request, written with what it created. `answer` is JSON. */
const UP = [
  `CREATE TABLE task_requests (
     requester text NOT NULL,
     message_id text NOT NULL,
     digest text NOT NULL,
     answer text NOT NULL,
     decided_at timestamptz NOT NULL DEFAULT now(),
     PRIMARY KEY (requester, message_id)
   )`,
  "CREATE INDEX task_requests_by_time ON task_requests (decided_at)",
];

const DOWN = ["DROP TABLE task_requests"];

export class TaskRequests0011 implements MigrationInterface {
  name = "TaskRequests1800000000011";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
