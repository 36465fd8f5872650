import type { MigrationInterface, QueryRunner } from "typeorm";

/** Written as in statements: PostgreSQL finds what the index has by the same words. */
const LANE = "CASE cause WHEN 'backfill' THEN 'backfill' ELSE 'regular' END";

/**
 * docs/decisions/0016-schedules.md. `schedules.next_at` is its first time that nothing was decided about, `due_at` when somebody has
 * to look (null: paused, or over). The key of `occurrences` is what lets each time happen once. `open`: its task was not over when that was
 * last looked at. `request_id`, `request_overlap`: by which id somebody has asked for it, and for which policy: asked again it is answered
 * as it is, and is not made twice. `schedule_observers`: who has been brought to what the schedule has wanted since `change_at`.
 */
const UP = [
  `CREATE TABLE schedules (
     id text PRIMARY KEY,
     kind text NOT NULL,
     type text,
     definition jsonb NOT NULL,
     version integer NOT NULL DEFAULT 1,
     next_at timestamptz,
     due_at timestamptz,
     last_at timestamptz,
     wanted text,
     change_at timestamptz,
     paused_at timestamptz,
     paused_by text,
     occurrences integer NOT NULL DEFAULT 0,
     missed bigint NOT NULL DEFAULT 0,
     problem text,
     created_at timestamptz NOT NULL DEFAULT unacked_now(),
     updated_at timestamptz NOT NULL DEFAULT unacked_now(),
     CONSTRAINT schedules_kind_known CHECK (kind IN ('task', 'observers')),
     CONSTRAINT schedules_wanted_known CHECK (wanted IN ('running', 'paused')),
     CONSTRAINT schedules_paused_not_due CHECK (paused_at IS NULL OR due_at IS NULL)
   ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  "CREATE INDEX schedules_due ON schedules (kind, due_at) WHERE due_at IS NOT NULL",
  `CREATE TABLE occurrences (
     schedule_id text NOT NULL REFERENCES schedules ON DELETE CASCADE,
     at timestamptz NOT NULL,
     status text NOT NULL,
     cause text NOT NULL,
     reason text,
     task_id uuid,
     open boolean NOT NULL DEFAULT false,
     wanted text,
     changed integer NOT NULL DEFAULT 0,
     late_ms bigint NOT NULL,
     earlier_missed integer NOT NULL DEFAULT 0,
     asked_by text,
     request_id uuid,
     request_overlap text,
     version integer NOT NULL,
     decided_at timestamptz NOT NULL DEFAULT unacked_now(),
     PRIMARY KEY (schedule_id, at),
     CONSTRAINT occurrences_status_known CHECK (status IN ('started', 'skipped', 'queued', 'missed')),
     CONSTRAINT occurrences_cause_known CHECK (cause IN ('time', 'catch-up', 'manual', 'backfill')),
     CONSTRAINT occurrences_say_why CHECK ((reason IS NOT NULL) = (status IN ('skipped', 'missed'))),
     CONSTRAINT occurrences_open_have_a_task CHECK (NOT open OR (status = 'started' AND task_id IS NOT NULL))
   ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  "CREATE INDEX occurrences_open ON occurrences (schedule_id) WHERE open",
  `CREATE INDEX occurrences_queued ON occurrences (schedule_id, (${LANE}), at) WHERE status = 'queued'`,
  "CREATE UNIQUE INDEX occurrences_asked ON occurrences (schedule_id, request_id) WHERE request_id IS NOT NULL",
  `CREATE TABLE schedule_observers (
     schedule_id text NOT NULL REFERENCES schedules ON DELETE CASCADE,
     observer_id uuid NOT NULL,
     change_at timestamptz NOT NULL,
     PRIMARY KEY (schedule_id, observer_id)
   )`,
];

const DOWN = ["DROP TABLE schedule_observers", "DROP TABLE occurrences", "DROP TABLE schedules"];

export class Schedules0014 implements MigrationInterface {
  name = "Schedules1800000000014";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
