import type { MigrationInterface, QueryRunner } from "typeorm";

/** As of `unacked_tasks_held`: a lane counts as one. */
const IN_LANES = "(count(*) FILTER (WHERE t.lane IS NULL) + count(DISTINCT t.lane) FILTER (WHERE t.lane IS NOT NULL))";

/**
 * `unacked_tasks_held_since`: as `unacked_tasks_held`, of what was sent since a time before which nothing is in flight any more
 * (domain/tasks/claim-floors.ts), so that it does not go past all that has been.
 */
const UP = `
  CREATE FUNCTION unacked_tasks_held_since(of_pool text, of_types text[], since timestamptz)
    RETURNS TABLE (pool text, type text, count integer, taken integer, tasks integer)
    LANGUAGE plpgsql VOLATILE SET plan_cache_mode = force_custom_plan AS $$
  BEGIN
    RETURN QUERY
      SELECT t.pool, t.type, ${IN_LANES}::integer, count(t.lease_until)::integer, count(*)::integer FROM tasks t
      WHERE t.status IN ('Sent', 'Running') AND t.pool = of_pool AND t.sent_at >= since GROUP BY 1, 2
      UNION ALL
      SELECT t.pool, t.type, ${IN_LANES}::integer, count(t.lease_until)::integer, count(*)::integer FROM tasks t
      WHERE t.status IN ('Sent', 'Running') AND t.pool <> of_pool AND t.type = ANY(of_types) AND cardinality(of_types) > 0
        AND t.sent_at >= since
      GROUP BY 1, 2;
  END $$`;

const DOWN = "DROP FUNCTION unacked_tasks_held_since";

export class ClaimFloors0023 implements MigrationInterface {
  name = "ClaimFloors1796100000023";

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
