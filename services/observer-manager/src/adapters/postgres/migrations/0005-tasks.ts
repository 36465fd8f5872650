import type { MigrationInterface, QueryRunner } from "typeorm";

/** For indexes of tasks that are neither being done nor over. */
const WAITS = "WHERE status IN ('Blocked', 'Scheduled', 'Ready')";

/**
 * docs/decisions/0011-tasks.md. `tasks` holds what is not over, and stays as small as that; `ended_tasks` is partitioned by the day
 * (UTC) of the end: partitions are made ahead and dropped by age (tasks/upkeep/task-days.ts). At a million rows each the indexes of
 * `tasks` take about 190 MB, those of a day of `ended_tasks` about 240 MB; `tasks_ready_of_type` another 80 MB at a million Ready rows.
 *
 * What few tasks have, so that the others pay for a null:
 * - `key`, and `next_params` of a newer request with it, with which it runs when its run ends (docs/decisions/0037-task-keys.md)
 * - `parent_id`, the task whose handler created it, and `story`: `postpones`, `postponedFor`, `completedBy`, `interrupted`, … (docs/decisions/0039-handlers-wishes.md)
 * - `lease_until` of what somebody has taken, and of nothing else, `taken_by`, and `told_send`, the taking whose end was told last, so
 *   that telling it again is no mistake (docs/decisions/0041-workers-outside.md)
 * - `lane`, tasks of a limited type that one worker does one after the other, named after the first of them
 * - `flow_id` and `flow_ref` (docs/decisions/0017-flows.md)
 *
 * `unacked_now()`: by which what is due is due; tests shift it (`ALTER DATABASE … SET unacked.clock_shift = '1 hour'`). Any role may for its own session, also one
 * that may only create tasks: so it stays within the years that all else can show.
 */
const UP = [
  `CREATE FUNCTION unacked_now() RETURNS timestamptz LANGUAGE sql STABLE AS
     $$ SELECT greatest('0001-01-01Z', least('9999-12-31Z', now() + coalesce(nullif(current_setting('unacked.clock_shift', true), ''), '0')::interval)) $$`,
  `CREATE TABLE tasks (
     id uuid PRIMARY KEY,
     type text NOT NULL,
     params jsonb NOT NULL,
     pool text NOT NULL,
     priority integer NOT NULL,
     status text NOT NULL,
     due_at timestamptz NOT NULL,
     max_attempts integer,
     failures integer NOT NULL DEFAULT 0,
     interruptions integer NOT NULL DEFAULT 0,
     crashes integer NOT NULL DEFAULT 0,
     sends integer NOT NULL DEFAULT 0,
     send_id uuid,
     sent_at timestamptz,
     run_id uuid,
     service_id uuid,
     service_generation integer,
     service_name text,
     started_at timestamptz,
     cancel_requested_at timestamptz,
     cancel_ordered_at timestamptz,
     last_error jsonb,
     created_at timestamptz NOT NULL DEFAULT now(),
     key text,
     next_params jsonb,
     parent_id uuid,
     story jsonb,
     lease_until timestamptz,
     taken_by text,
     told_send uuid,
     lane uuid,
     flow_id uuid,
     flow_ref text,
     CONSTRAINT tasks_status_known CHECK (status IN ('Blocked', 'Scheduled', 'Ready', 'Sent', 'Running')),
     CONSTRAINT tasks_in_flight_have_a_send CHECK ((status IN ('Sent', 'Running')) = (send_id IS NOT NULL)),
     CONSTRAINT tasks_running_have_a_run CHECK ((status = 'Running') = (run_id IS NOT NULL)),
     CONSTRAINT tasks_leased_run CHECK (lease_until IS NULL OR status = 'Running')
   ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  // Of a type that is not known when it is planned few rows are to be expected, however few types there are: else tasks_ready is read, and
  // all of another type that waits there is passed to find none of it. https://www.postgresql.org/docs/current/planner-stats.html
  "ALTER TABLE tasks ALTER COLUMN type SET (n_distinct = 1000)",
  "CREATE INDEX tasks_ready ON tasks (pool, priority DESC, due_at, id) WHERE status = 'Ready'",
  "CREATE INDEX tasks_scheduled ON tasks (due_at) WHERE status = 'Scheduled'",
  // What is taken lies apart, before what services have: it may be tens of thousands for hours, and is in no window.
  "CREATE INDEX tasks_in_flight ON tasks (lease_until, pool, sent_at) WHERE status IN ('Sent', 'Running')",
  "CREATE INDEX tasks_cancelling ON tasks (cancel_ordered_at NULLS FIRST) WHERE cancel_requested_at IS NOT NULL",
  "CREATE INDEX tasks_ready_of_type ON tasks (pool, type, priority DESC, due_at, id) WHERE status = 'Ready'",
  "CREATE UNIQUE INDEX tasks_key ON tasks (type, key) WHERE key IS NOT NULL",
  "CREATE INDEX tasks_leases ON tasks (lease_until) WHERE lease_until IS NOT NULL",
  "CREATE INDEX tasks_taken ON tasks (type) WHERE lease_until IS NOT NULL",
  "CREATE INDEX tasks_of_flow ON tasks (flow_id) WHERE flow_id IS NOT NULL",
  // Without what is in flight: it is little beside what may wait, and a claim, which takes a task out of two indexes and into one, would
  // write it into these two again: 28 to 21 µs of PostgreSQL for each that is claimed.
  // By age: ascending, so that what is new comes to the right end, of all or of its type, where PostgreSQL is quicker and fills pages. Lists, newest first,
  // read them backward.
  `CREATE INDEX tasks_newest ON tasks (created_at, id) ${WAITS}`,
  `CREATE INDEX tasks_of_type ON tasks (type, created_at, id) ${WAITS}`,
  `CREATE TABLE ended_tasks (
     id uuid NOT NULL,
     type text NOT NULL,
     params jsonb NOT NULL,
     pool text NOT NULL,
     priority integer NOT NULL,
     status text NOT NULL,
     due_at timestamptz NOT NULL,
     max_attempts integer,
     failures integer NOT NULL,
     interruptions integer NOT NULL,
     crashes integer NOT NULL,
     sends integer NOT NULL,
     run_id uuid,
     service_id uuid,
     service_name text,
     started_at timestamptz,
     output text,
     last_error jsonb,
     created_at timestamptz NOT NULL,
     ended_at timestamptz NOT NULL,
     key text,
     parent_id uuid,
     story jsonb,
     taken_by text,
     told_send uuid,
     flow_id uuid,
     flow_ref text,
     CONSTRAINT ended_tasks_status_known CHECK (status IN ('Completed', 'Failed', 'Cancelled'))
   ) PARTITION BY RANGE (ended_at)`,
  "CREATE INDEX ended_tasks_by_id ON ended_tasks (id)",
  "CREATE INDEX ended_tasks_of_type ON ended_tasks (type, created_at, id)",
  // Of all, too: each status is read for itself.
  "CREATE INDEX ended_tasks_by_status ON ended_tasks (status, created_at, id)",
  // Without the id, as what was created together has one time and is kept as one entry: 1.2 µs an end, of some 480. Without the index a pool that few
  // tasks have was looked for among all that have ended: a fifth of a second for a million.
  "CREATE INDEX ended_tasks_of_pool ON ended_tasks (pool, created_at)",
];

const DOWN = ["DROP TABLE ended_tasks", "DROP TABLE tasks", "DROP FUNCTION unacked_now()"];

export class Tasks0005 implements MigrationInterface {
  name = "Tasks1800000000005";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
