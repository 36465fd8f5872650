import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * Events that no manager has understood so far, each whole, in a batch of its own. Each belongs to an error, and goes with it: at
 * the latest with the retention (RETENTION_DAYS). While one is there nothing is repaired about the observers that it names.
 */
const UP = [
  `CREATE TABLE unapplied_events (
     position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     error_message_id uuid NOT NULL REFERENCES errors (message_id) ON DELETE CASCADE,
     observer_ids uuid[] NOT NULL,
     batch text NOT NULL
   )`,
  "CREATE UNIQUE INDEX unapplied_events_of_message ON unapplied_events (error_message_id)",
  "CREATE INDEX unapplied_events_of_observers ON unapplied_events USING gin (observer_ids)",
];

export class UnappliedEvents0004 implements MigrationInterface {
  name = "UnappliedEvents1795200000004";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DROP TABLE unapplied_events");
  }
}
