import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * A summary of pages (BRIN) tells old from new while a table grows at its end. Once what was old is removed its pages are used again, and a summary keeps the oldest
 * that was ever on them: two weeks later each of them was read, each minute. Claimed together is of one time, which is kept as one entry.
 */
const UP = ["DROP INDEX ended_timers_by_end", "CREATE INDEX ended_timers_by_end ON ended_timers (ended_at)"];

const DOWN = [
  "DROP INDEX ended_timers_by_end",
  "CREATE INDEX ended_timers_by_end ON ended_timers USING brin (ended_at) WITH (pages_per_range = 32, autosummarize = on)",
];

export class TimersByEnd0059 implements MigrationInterface {
  name = "TimersByEnd1798700000059";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
