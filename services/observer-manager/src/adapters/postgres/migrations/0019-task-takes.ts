import type { MigrationInterface, QueryRunner } from "typeorm";

const IN_LANES = "(count(*) FILTER (WHERE t.lane IS NULL) + count(DISTINCT t.lane) FILTER (WHERE t.lane IS NOT NULL))";

/**
 * docs/decisions/0041-workers-outside.md. `lease_until`: of what somebody has taken, and of nothing else; `told_send`: the taking
 * whose end was told last, so that telling it again is no mistake. `outside`: tasks of the type are created although no service has it.
 *
 * `lane`: tasks of a limited type that one worker does one after the other, named after the first of them.
 *
 * `unacked_tasks_held`: as `unacked_tasks_in_flight`, with a lane counted as one, and how many of them are taken: those occupy no worker
 * of a service.
 */
const UP = [
  "ALTER TABLE tasks ADD COLUMN lease_until timestamptz, ADD COLUMN taken_by text, ADD COLUMN told_send uuid, ADD COLUMN lane uuid",
  "ALTER TABLE tasks ADD CONSTRAINT tasks_leased_run CHECK (lease_until IS NULL OR status = 'Running')",
  "ALTER TABLE ended_tasks ADD COLUMN taken_by text, ADD COLUMN told_send uuid",
  "ALTER TABLE task_types ADD COLUMN outside boolean NOT NULL DEFAULT false",
  "CREATE INDEX tasks_leases ON tasks (lease_until) WHERE lease_until IS NOT NULL",
  `CREATE FUNCTION unacked_tasks_held(of_pool text, of_types text[])
     RETURNS TABLE (pool text, type text, count integer, taken integer, tasks integer)
     LANGUAGE plpgsql VOLATILE SET plan_cache_mode = force_custom_plan AS $$
   BEGIN
     RETURN QUERY
       SELECT t.pool, t.type, ${IN_LANES}::integer, count(t.lease_until)::integer, count(*)::integer FROM tasks t
       WHERE t.status IN ('Sent', 'Running') AND t.pool = of_pool GROUP BY 1, 2
       UNION ALL
       SELECT t.pool, t.type, ${IN_LANES}::integer, count(t.lease_until)::integer, count(*)::integer FROM tasks t
       WHERE t.status IN ('Sent', 'Running') AND t.pool <> of_pool AND t.type = ANY(of_types) AND cardinality(of_types) > 0
       GROUP BY 1, 2;
   END $$`,
];

const DOWN = [
  "DROP FUNCTION unacked_tasks_held",
  "DROP INDEX tasks_leases",
  "ALTER TABLE task_types DROP COLUMN outside",
  "ALTER TABLE ended_tasks DROP COLUMN taken_by, DROP COLUMN told_send",
  "ALTER TABLE tasks DROP CONSTRAINT tasks_leased_run, DROP COLUMN lease_until, DROP COLUMN taken_by, DROP COLUMN told_send, DROP COLUMN lane",
];

export class TaskTakes0019 implements MigrationInterface {
  name = "TaskTakes1795700000019";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
