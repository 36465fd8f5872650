import type { MigrationInterface, QueryRunner } from "typeorm";

/** As unacked_due_timers of 0049, which managers from before call, but not from the beginning of timers_due (domain/due-floor.ts). */
export class DueTimersFrom0063 implements MigrationInterface {
  name = "DueTimersFrom1799100000063";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE FUNCTION unacked_due_timers_from(since timestamptz, at_most integer) RETURNS TABLE (place tid)
         LANGUAGE plpgsql VOLATILE SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
       BEGIN
         RETURN QUERY
           SELECT t.ctid FROM timers t WHERE t.owner IS NULL AND t.next_at >= since AND t.next_at <= unacked_now()
           ORDER BY t.next_at LIMIT at_most FOR UPDATE SKIP LOCKED;
       END $$`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DROP FUNCTION unacked_due_timers_from");
  }
}
