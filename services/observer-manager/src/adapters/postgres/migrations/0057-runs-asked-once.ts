import type { MigrationInterface, QueryRunner } from "typeorm";

/** By which id somebody has asked for an occurrence, and for which policy: asked again it is answered as it is, and is not made twice. */
const UP = [
  "ALTER TABLE occurrences ADD COLUMN request_id uuid, ADD COLUMN request_overlap text",
  "CREATE UNIQUE INDEX occurrences_asked ON occurrences (schedule_id, request_id) WHERE request_id IS NOT NULL",
];

const DOWN = ["ALTER TABLE occurrences DROP COLUMN request_id, DROP COLUMN request_overlap"];

export class RunsAskedOnce0057 implements MigrationInterface {
  name = "RunsAskedOnce1798500000057";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
