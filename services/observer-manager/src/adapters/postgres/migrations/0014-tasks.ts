import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0011-tasks.md. `tasks` holds what is not over, and stays as small as that; `ended_tasks` is partitioned by the day
 * (UTC) of the end: partitions are made ahead and dropped by age (tasks/upkeep/task-days.ts). At a million rows each the indexes of
 * `tasks` take about 190 MB, those of a day of `ended_tasks` about 240 MB.
 *
 * `unacked_now()`: by which what is due is due; tests shift it (`ALTER DATABASE … SET unacked.clock_shift = '1 hour'`).
 */
const UP = [
  `CREATE FUNCTION unacked_now() RETURNS timestamptz LANGUAGE sql STABLE AS
     $$ SELECT now() + coalesce(nullif(current_setting('unacked.clock_shift', true), ''), '0')::interval $$`,
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
     CONSTRAINT tasks_status_known CHECK (status IN ('Scheduled', 'Ready', 'Sent', 'Running')),
     CONSTRAINT tasks_in_flight_have_a_send CHECK ((status IN ('Sent', 'Running')) = (send_id IS NOT NULL)),
     CONSTRAINT tasks_running_have_a_run CHECK ((status = 'Running') = (run_id IS NOT NULL))
   ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  "CREATE INDEX tasks_ready ON tasks (pool, priority DESC, due_at, id) WHERE status = 'Ready'",
  "CREATE INDEX tasks_scheduled ON tasks (due_at) WHERE status = 'Scheduled'",
  "CREATE INDEX tasks_in_flight ON tasks (pool, sent_at) WHERE status IN ('Sent', 'Running')",
  "CREATE INDEX tasks_cancelling ON tasks (cancel_ordered_at NULLS FIRST) WHERE cancel_requested_at IS NOT NULL",
  "CREATE INDEX tasks_newest ON tasks (created_at DESC, id DESC)",
  "CREATE INDEX tasks_of_type ON tasks (type, created_at DESC, id DESC)",
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
     CONSTRAINT ended_tasks_status_known CHECK (status IN ('Completed', 'Failed', 'Cancelled'))
   ) PARTITION BY RANGE (ended_at)`,
  "CREATE INDEX ended_tasks_by_id ON ended_tasks (id)",
  "CREATE INDEX ended_tasks_newest ON ended_tasks (created_at DESC, id DESC)",
  "CREATE INDEX ended_tasks_of_type ON ended_tasks (type, created_at DESC, id DESC)",
  "CREATE INDEX ended_tasks_by_status ON ended_tasks (status, created_at DESC, id DESC)",
  `CREATE TABLE task_services (
     id uuid PRIMARY KEY,
     generation integer NOT NULL,
     name text NOT NULL,
     pool text NOT NULL,
     workers integer NOT NULL,
     draining boolean NOT NULL,
     types jsonb NOT NULL,
     last_seq bigint NOT NULL DEFAULT 0,
     seen_at timestamptz NOT NULL DEFAULT now()
   )`,
  `CREATE TABLE task_proofs (
     pool text PRIMARY KEY,
     marker_id uuid NOT NULL,
     begun_at timestamptz NOT NULL DEFAULT now(),
     services text[] NOT NULL,
     seen_at timestamptz,
     asked_at timestamptz,
     answered text[] NOT NULL DEFAULT '{}',
     held uuid[] NOT NULL DEFAULT '{}'
   )`,
];

const DOWN = [
  "DROP TABLE task_proofs",
  "DROP TABLE task_services",
  "DROP TABLE ended_tasks",
  "DROP TABLE tasks",
  "DROP FUNCTION unacked_now()",
];

export class Tasks0014 implements MigrationInterface {
  name = "Tasks1795200000014";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
