import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0042-task-figures.md. `task_figure_deltas`: what each transaction adds, never updated, so that nobody waits for
 * anybody; folded into `task_figures` every few seconds, and gone. `task_figures`: a row a type, pool and minute (for two days) or
 * hour (for thirty). `histogram`: how many attempts were in which bucket (domain/tasks/running-times.ts), as a JSON object.
 */
const UP = [
  `CREATE TABLE task_figure_deltas (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     at timestamptz NOT NULL DEFAULT now(),
     type text NOT NULL,
     pool text NOT NULL,
     created integer NOT NULL DEFAULT 0,
     completed integer NOT NULL DEFAULT 0,
     failed integer NOT NULL DEFAULT 0,
     cancelled integer NOT NULL DEFAULT 0,
     retried integer NOT NULL DEFAULT 0,
     ran_ms double precision NOT NULL DEFAULT 0,
     buckets smallint[] NOT NULL DEFAULT '{}'
   ) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 5000)`,
  `CREATE TABLE task_figures (
     span text NOT NULL,
     at timestamptz NOT NULL,
     type text NOT NULL,
     pool text NOT NULL,
     created bigint NOT NULL,
     completed bigint NOT NULL,
     failed bigint NOT NULL,
     cancelled bigint NOT NULL,
     retried bigint NOT NULL,
     ran_ms double precision NOT NULL,
     histogram jsonb NOT NULL,
     PRIMARY KEY (span, at, type, pool),
     CONSTRAINT task_figures_span_known CHECK (span IN ('minute', 'hour'))
   ) WITH (fillfactor = 70)`,
];

const DOWN = ["DROP TABLE task_figures", "DROP TABLE task_figure_deltas"];

export class TaskFigures0008 implements MigrationInterface {
  name = "TaskFigures1800000000008";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
