import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0017-flows.md. `flow_ends` is written by whoever ends a task of a flow, and emptied by who follows it up. */
const UP = [
  `CREATE TABLE flows (
     id uuid PRIMARY KEY,
     name text,
     status text NOT NULL DEFAULT 'Running',
     run integer NOT NULL DEFAULT 1,
     digest text NOT NULL,
     total integer NOT NULL,
     completed integer NOT NULL DEFAULT 0,
     failed integer NOT NULL DEFAULT 0,
     cancelled integer NOT NULL DEFAULT 0,
     reason text,
     cancel_requested_at timestamptz,
     cancel_ordered boolean NOT NULL DEFAULT false,
     created_at timestamptz NOT NULL DEFAULT now(),
     ended_at timestamptz,
     CONSTRAINT flows_status_known CHECK (status IN ('Running', 'Completed', 'Failed', 'Cancelled')),
     CONSTRAINT flows_over_have_an_end CHECK ((status = 'Running') = (ended_at IS NULL)),
     CONSTRAINT flows_count_each_once CHECK (completed + failed + cancelled <= total)
   )`,
  "CREATE INDEX flows_newest ON flows (created_at DESC, id DESC)",
  "CREATE INDEX flows_of_name ON flows (name, created_at DESC, id DESC)",
  "CREATE INDEX flows_running ON flows (id) WHERE status = 'Running'",
  "CREATE INDEX flows_to_cancel ON flows (id) WHERE cancel_requested_at IS NOT NULL AND NOT cancel_ordered",
  "CREATE INDEX flows_by_end ON flows (ended_at) WHERE ended_at IS NOT NULL",
  // Without this index a rare status, such as Failed, was looked for and counted among all flows, each 2 s for each page that shows it.
  "CREATE INDEX flows_by_status ON flows (status, created_at DESC, id DESC)",
  `CREATE TABLE flow_tasks (
     flow_id uuid NOT NULL,
     ref text NOT NULL,
     place integer NOT NULL,
     task_id uuid NOT NULL,
     type text NOT NULL,
     params jsonb NOT NULL,
     pool text NOT NULL,
     priority integer NOT NULL,
     start_at timestamptz,
     max_attempts integer,
     on_failure text NOT NULL,
     max_output_bytes integer NOT NULL,
     run integer NOT NULL DEFAULT 1,
     followers integer NOT NULL,
     waiting integer NOT NULL,
     status text,
     output text,
     error jsonb,
     reason text,
     ended_at timestamptz,
     PRIMARY KEY (flow_id, ref),
     CONSTRAINT flow_tasks_on_failure_known CHECK (on_failure IN ('fail', 'continue')),
     CONSTRAINT flow_tasks_status_known CHECK (status IN ('Completed', 'Failed', 'Cancelled')),
     CONSTRAINT flow_tasks_over_have_an_end CHECK ((status IS NULL) = (ended_at IS NULL))
   ) WITH (fillfactor = 80)`,
  "CREATE UNIQUE INDEX flow_tasks_in_order ON flow_tasks (flow_id, place)",
  `CREATE TABLE flow_edges (
     flow_id uuid NOT NULL,
     after text NOT NULL,
     ref text NOT NULL,
     PRIMARY KEY (flow_id, after, ref)
   )`,
  "CREATE INDEX flow_edges_back ON flow_edges (flow_id, ref, after)",
  `CREATE TABLE flow_ends (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     flow_id uuid NOT NULL,
     ref text NOT NULL,
     task_id uuid NOT NULL,
     status text NOT NULL,
     output text,
     error jsonb,
     reason text,
     passed integer NOT NULL DEFAULT 0,
     ended_at timestamptz NOT NULL,
     CONSTRAINT flow_ends_status_known CHECK (status IN ('Completed', 'Failed', 'Cancelled'))
   ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  "CREATE INDEX flow_ends_of_flow ON flow_ends (flow_id)",
];

const DOWN = ["flow_ends", "flow_edges", "flow_tasks", "flows"].map((table) => `DROP TABLE ${table}`);

export class Flows0012 implements MigrationInterface {
  name = "Flows1800000000012";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
