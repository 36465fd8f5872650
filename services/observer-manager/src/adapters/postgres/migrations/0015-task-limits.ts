import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * Limits by task type (docs/decisions/0035-task-limits.md). `task_types`: a row a type that is limited in any way, so as many as an
 * admin names; `claimed_at` and `claimed` are the claims of its last second, at most 200 entries. `tasks_ready_of_type` costs about
 * 80 MB at a million Ready rows.
 *
 * `unacked_tasks_in_flight`: VOLATILE, so that it sees what was committed until it is called, and not only until the statement
 * began that calls it; planned each time, for the table as large as it is by then.
 */
const UP = [
  `CREATE TABLE task_types (
     type text PRIMARY KEY,
     paused boolean NOT NULL,
     max_running integer,
     min_running integer NOT NULL,
     rate_per_second integer,
     claimed_at timestamptz[] NOT NULL DEFAULT '{}',
     claimed integer[] NOT NULL DEFAULT '{}',
     changed_at timestamptz NOT NULL DEFAULT now(),
     CONSTRAINT task_types_limits_possible CHECK (max_running >= greatest(1, min_running) AND min_running >= 0 AND rate_per_second >= 1),
     CONSTRAINT task_types_claims_in_pairs CHECK (cardinality(claimed_at) = cardinality(claimed))
   ) WITH (fillfactor = 50)`,
  "CREATE INDEX tasks_ready_of_type ON tasks (pool, type, priority DESC, due_at, id) WHERE status = 'Ready'",
  `CREATE FUNCTION unacked_tasks_in_flight(of_pool text, of_types text[])
     RETURNS TABLE (pool text, type text, count integer)
     LANGUAGE plpgsql VOLATILE SET plan_cache_mode = force_custom_plan AS $$
   BEGIN
     RETURN QUERY
       SELECT t.pool, t.type, count(*)::integer FROM tasks t
       WHERE t.status IN ('Sent', 'Running') AND (t.pool = of_pool OR (cardinality(of_types) > 0 AND t.type = ANY(of_types)))
       GROUP BY 1, 2;
   END $$`,
];

const DOWN = ["DROP FUNCTION unacked_tasks_in_flight", "DROP INDEX tasks_ready_of_type", "DROP TABLE task_types"];

export class TaskLimits0015 implements MigrationInterface {
  name = "TaskLimits1795300000015";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
