import type { MigrationInterface, QueryRunner } from "typeorm";

const BEFORE = [
  "Created",
  "Processing",
  "Retrying",
  "Redistributing",
  "OnDeleting",
  "Deleted",
  "Failed",
  "Completed",
  "Paused",
];

const KNOWN = (statuses: string[]): string[] => [
  "ALTER TABLE observers DROP CONSTRAINT status_is_known",
  `ALTER TABLE observers ADD CONSTRAINT status_is_known CHECK (status IN (${statuses.map((one) => `'${one}'`).join(", ")}))`,
];

/** docs/decisions/0018-scheduled-observers.md. The checks read every observer once, under the table's lock: a million in less than a second. */
const UP = [
  ...KNOWN([...BEFORE, "Scheduled"]),
  `ALTER TABLE observers ADD COLUMN start_at timestamptz, ADD COLUMN start_next_at timestamptz,
     ADD COLUMN start_problem text, ADD COLUMN when_full text,
     ADD CONSTRAINT what_is_scheduled_has_a_time CHECK (status <> 'Scheduled' OR start_next_at IS NOT NULL)`,
  "CREATE INDEX observers_to_start ON observers (start_next_at) WHERE status = 'Scheduled'",
];

/** What is Scheduled has no message: without a status for it, it is over. */
const DOWN = [
  "UPDATE observers SET status = 'Completed' WHERE status = 'Scheduled'",
  `ALTER TABLE observers DROP COLUMN start_at, DROP COLUMN start_next_at, DROP COLUMN start_problem, DROP COLUMN when_full`,
  ...KNOWN(BEFORE),
];

export class ScheduledObservers0031 implements MigrationInterface {
  name = "ScheduledObservers1797300000031";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
