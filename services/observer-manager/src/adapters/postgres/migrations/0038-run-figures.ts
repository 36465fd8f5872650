import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0021-silence-and-history.md. `services.emits`: by type, what a boot has emitted so far as it told last; null: it has not told. */
const UP = [
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
  "ALTER TABLE services ADD COLUMN emits jsonb",
];

const DOWN = ["ALTER TABLE services DROP COLUMN emits", "DROP TABLE run_figures"];

export class RunFigures0038 implements MigrationInterface {
  name = "RunFigures1797700000038";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
