import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0014-timers.md. `timers` holds what is not over; `owner` is the manager that is firing it just now, known to live by its
 * lease in `timer_owners`. `unsure`: somebody may have heard it, so that no cancel may say that it never fires.
 */
const UP = [
  `CREATE TABLE timers (
     id uuid PRIMARY KEY,
     name text NOT NULL,
     payload jsonb NOT NULL,
     due_at timestamptz NOT NULL,
     next_at timestamptz NOT NULL,
     expires_at timestamptz NOT NULL,
     default_expiry boolean NOT NULL,
     status text NOT NULL DEFAULT 'Waiting',
     owner uuid,
     claim_id uuid,
     unsure boolean NOT NULL DEFAULT false,
     returns integer NOT NULL DEFAULT 0,
     last_problem text,
     created_at timestamptz NOT NULL DEFAULT now(),
     CONSTRAINT timers_status_known CHECK (status IN ('Waiting', 'Firing')),
     CONSTRAINT timers_waiting_surely_unheard CHECK (status = 'Firing' OR (owner IS NULL AND NOT unsure)),
     CONSTRAINT timers_owned_by_a_claim CHECK ((owner IS NULL) = (claim_id IS NULL))
   ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  "CREATE INDEX timers_due ON timers (next_at) WHERE owner IS NULL",
  "CREATE INDEX timers_in_flight ON timers (owner) WHERE owner IS NOT NULL",
  "CREATE INDEX timers_returned ON timers (name) WHERE returns > 0",
  "CREATE INDEX timers_newest ON timers (created_at DESC, id DESC)",
  "CREATE INDEX timers_of_name ON timers (name, created_at DESC, id DESC)",
  `CREATE TABLE ended_timers (
     id uuid PRIMARY KEY,
     name text NOT NULL,
     payload jsonb NOT NULL,
     due_at timestamptz NOT NULL,
     expires_at timestamptz NOT NULL,
     status text NOT NULL,
     returns integer NOT NULL,
     last_problem text,
     created_at timestamptz NOT NULL,
     ended_at timestamptz NOT NULL,
     CONSTRAINT ended_timers_status_known CHECK (status IN ('Fired', 'Cancelled', 'Expired'))
   )`,
  "CREATE INDEX ended_timers_newest ON ended_timers (created_at DESC, id DESC)",
  "CREATE INDEX ended_timers_of_name ON ended_timers (name, created_at DESC, id DESC)",
  "CREATE INDEX ended_timers_by_end ON ended_timers (ended_at)",
  "CREATE TABLE timer_owners (id uuid PRIMARY KEY, lease_until timestamptz NOT NULL)",
];

const DOWN = ["DROP TABLE timer_owners", "DROP TABLE ended_timers", "DROP TABLE timers"];

export class Timers0024 implements MigrationInterface {
  name = "Timers1796200000024";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
