import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0024-bulk-work.md. `place`: the last id that was reached. `turn_at`: when a step of it was done last. `problem`: why the
 * last step could not be done; null: it could, or none was tried.
 */
const UP = [
  `CREATE TABLE works (
     id uuid PRIMARY KEY,
     wish jsonb NOT NULL,
     actor jsonb NOT NULL,
     audit_id uuid NOT NULL,
     status text NOT NULL DEFAULT 'Running',
     total integer NOT NULL,
     accepted integer NOT NULL DEFAULT 0,
     refused jsonb NOT NULL DEFAULT '{}',
     place uuid,
     turn_at timestamptz NOT NULL DEFAULT now(),
     problem text,
     created_at timestamptz NOT NULL DEFAULT now(),
     ended_at timestamptz,
     cancelled_by text,
     CONSTRAINT works_status_known CHECK (status IN ('Running', 'Done', 'Cancelled')),
     CONSTRAINT works_over_when_ended CHECK ((status = 'Running') = (ended_at IS NULL))
   )`,
  "CREATE INDEX works_running ON works (turn_at) WHERE status = 'Running'",
  "CREATE INDEX works_newest ON works (created_at DESC, id DESC)",
  "CREATE INDEX works_by_end ON works (ended_at)",
];

const DOWN = ["DROP TABLE works"];

export class Works0015 implements MigrationInterface {
  name = "Works1800000000015";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
