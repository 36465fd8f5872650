import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * What runs leave behind. `checkpoints`: where the next one goes on (docs/decisions/0020-admission.md). `run_figures`: how often they began,
 * failed and were interrupted, and what they emitted, a row a type, service and span of time (docs/decisions/0021-silence-and-history.md).
 */
const UP = [
  `CREATE TABLE checkpoints (
     run_id uuid PRIMARY KEY,
     observer_id uuid NOT NULL,
     fencing_token bigint NOT NULL,
     is_started boolean NOT NULL,
     number bigint NOT NULL,
     value text,
     saved_at timestamptz NOT NULL DEFAULT now(),
     previous_number bigint,
     previous_value text,
     previous_saved_at timestamptz
   )`,
  "CREATE INDEX checkpoints_of_observer ON checkpoints (observer_id, fencing_token DESC)",
  `CREATE TABLE run_figures (
     at timestamptz NOT NULL,
     type text NOT NULL,
     service_id uuid NOT NULL,
     starts integer NOT NULL,
     failures integer NOT NULL,
     interruptions integer NOT NULL,
     emits bigint NOT NULL,
     PRIMARY KEY (at, type, service_id)
   ) WITH (fillfactor = 70)`,
];

const DOWN = ["DROP TABLE run_figures", "DROP TABLE checkpoints"];

export class RunRecords0017 implements MigrationInterface {
  name = "RunRecords1800000000017";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
