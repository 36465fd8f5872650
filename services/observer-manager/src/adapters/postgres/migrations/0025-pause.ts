import type { MigrationInterface, QueryRunner } from "typeorm";

const BEFORE = ["Created", "Processing", "Retrying", "Redistributing", "OnDeleting", "Deleted", "Failed", "Completed"];

const KNOWN = (statuses: string[]): string[] => [
  "ALTER TABLE observers DROP CONSTRAINT status_is_known",
  `ALTER TABLE observers ADD CONSTRAINT status_is_known CHECK (status IN (${statuses.map((one) => `'${one}'`).join(", ")}))`,
];

/** docs/decisions/0015-pause.md. The checks read every observer once, under the table's lock: a million in less than a second. */
const UP = [
  ...KNOWN([...BEFORE, "Paused"]),
  `ALTER TABLE observers ADD COLUMN pending text,
     ADD CONSTRAINT pending_is_known CHECK (pending IN ('pause')),
     ADD CONSTRAINT only_what_can_be_paused_is_about_to_be CHECK
       (pending IS NULL OR status IN ('Created', 'Processing', 'Retrying', 'Redistributing'))`,
];

/** What is Paused has no message: without a status for it, it is over. */
const DOWN = [
  "UPDATE observers SET status = 'Completed' WHERE status = 'Paused'",
  "ALTER TABLE observers DROP COLUMN pending",
  ...KNOWN(BEFORE),
];

export class Pause0025 implements MigrationInterface {
  name = "Pause1796300000025";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
