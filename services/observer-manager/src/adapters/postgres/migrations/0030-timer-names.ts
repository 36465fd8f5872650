import type { MigrationInterface, QueryRunner } from "typeorm";

const of = (table: string, order: string): string[] => [
  `DROP INDEX ${table}_of_name`,
  `CREATE INDEX ${table}_of_name ON ${table} (name ${order}, created_at DESC, id DESC)`,
];

/** The same index also finds names by how they begin, whatever the database's collation. */
export class TimerNames0030 implements MigrationInterface {
  name = "TimerNames1796800000030";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of ["timers", "ended_timers"])
      for (const statement of of(table, "text_pattern_ops")) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ["timers", "ended_timers"])
      for (const statement of of(table, "")) await queryRunner.query(statement);
  }
}
