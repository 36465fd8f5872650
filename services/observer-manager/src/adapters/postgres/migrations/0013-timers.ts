import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0014-timers.md. `timers` holds what waits, and what may have been heard (`unsure`), so that no cancel may say that it never fires.
 * A claim moves its timers to `ended_timers`, where they are Firing for as long as `timer_claims` has the claim, and Fired without: no timer is
 * written a second time because it was confirmed. `default_expiry` and `unsure` of the ended are for those that have to go back. `timer_owners`: the
 * managers that fire, each known to live by its lease.
 *
 * The indexes of lists are without the id: what is set together has one time, and an index keeps equal keys as one (deduplication), where random ids
 * among them cost a third of all that PostgreSQL does for a timer. A page of a list sorts those of one time, 10,000 at most. Those by name also find
 * names by how they begin, whatever the database's collation.
 */
const TABLES = [
  `CREATE TABLE timers (
     id uuid PRIMARY KEY,
     name text NOT NULL,
     payload jsonb NOT NULL,
     due_at timestamptz NOT NULL,
     next_at timestamptz NOT NULL,
     expires_at timestamptz NOT NULL,
     default_expiry boolean NOT NULL,
     status text NOT NULL DEFAULT 'Waiting',
     unsure boolean NOT NULL DEFAULT false,
     returns integer NOT NULL DEFAULT 0,
     last_problem text,
     created_at timestamptz NOT NULL DEFAULT now(),
     CONSTRAINT timers_status_known CHECK (status IN ('Waiting', 'Firing')),
     CONSTRAINT timers_waiting_surely_unheard CHECK (status = 'Firing' OR NOT unsure)
   ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  // Timers that nobody hears have an index of their own: a hundred thousand of them stood before each one that was due since.
  "CREATE INDEX timers_due ON timers (next_at) WHERE returns = 0",
  "CREATE INDEX timers_again ON timers (next_at) WHERE returns > 0",
  "CREATE INDEX timers_newest ON timers (created_at DESC)",
  "CREATE INDEX timers_of_name ON timers (name text_pattern_ops, created_at DESC)",
  `CREATE TABLE ended_timers (
     id uuid PRIMARY KEY,
     name text NOT NULL,
     payload jsonb NOT NULL,
     due_at timestamptz NOT NULL,
     expires_at timestamptz NOT NULL,
     default_expiry boolean,
     status text NOT NULL,
     unsure boolean,
     returns integer NOT NULL,
     last_problem text,
     created_at timestamptz NOT NULL,
     ended_at timestamptz NOT NULL,
     claim_id uuid,
     CONSTRAINT ended_timers_status_known CHECK (status IN ('Fired', 'Cancelled', 'Expired'))
   )`,
  "CREATE INDEX ended_timers_newest ON ended_timers (created_at DESC)",
  // Nearly all timers have fired, and pay nothing for this index.
  "CREATE INDEX ended_timers_unfired ON ended_timers (status, created_at DESC) WHERE status <> 'Fired'",
  "CREATE INDEX ended_timers_of_name ON ended_timers (name text_pattern_ops, created_at DESC)",
  // No summary of pages (BRIN): once what was old is removed its pages are used again, and a summary keeps the oldest that was ever on them.
  "CREATE INDEX ended_timers_by_end ON ended_timers (ended_at)",
  `CREATE TABLE timer_claims (id uuid PRIMARY KEY, owner uuid NOT NULL, ids uuid[] NOT NULL)
     WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500)`,
  // Ids do not compress, so PostgreSQL is not to try.
  "ALTER TABLE timer_claims ALTER COLUMN ids SET STORAGE EXTERNAL",
  "CREATE TABLE timer_owners (id uuid PRIMARY KEY, lease_until timestamptz NOT NULL)",
];

/**
 * `unacked_due_timers_from`: where those lie that are due first, from a time on (domain/due-floor.ts), locked, in the order of timers_due, or of timers_again,
 * whatever the planner believes of the table. Statistics are minutes behind a burst, and by those of an empty table it sorted all that was
 * due for each set of 500 (measured: 70 µs a timer instead of 20).
 *
 * `unacked_take_over_claims`: who deletes the lease of a manager that is gone gives back what it was firing. It locks in one order, as all do that lock
 * these rows.
 */
const FUNCTIONS = [
  `CREATE FUNCTION unacked_due_timers_from(since timestamptz, at_most integer, again boolean) RETURNS TABLE (place tid)
     LANGUAGE plpgsql VOLATILE SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
   BEGIN
     IF again THEN
       RETURN QUERY
         SELECT t.ctid FROM timers t WHERE t.returns > 0 AND t.next_at >= since AND t.next_at <= unacked_now()
         ORDER BY t.next_at LIMIT at_most FOR UPDATE SKIP LOCKED;
     ELSE
       RETURN QUERY
         SELECT t.ctid FROM timers t WHERE t.returns = 0 AND t.next_at >= since AND t.next_at <= unacked_now()
         ORDER BY t.next_at LIMIT at_most FOR UPDATE SKIP LOCKED;
     END IF;
   END $$`,
  `CREATE FUNCTION unacked_take_over_claims() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     WITH claims AS (
       DELETE FROM timer_claims
       WHERE id = ANY(ARRAY(SELECT c.id FROM timer_claims c WHERE c.owner = OLD.id ORDER BY c.id FOR UPDATE)) RETURNING id, ids),
     back AS (
       DELETE FROM ended_timers WHERE id = ANY(ARRAY(
         SELECT e.id FROM ended_timers e
         WHERE e.id = ANY(ARRAY(SELECT unnest(ids) FROM claims)) AND e.claim_id = ANY(ARRAY(SELECT id FROM claims))
         ORDER BY e.id FOR UPDATE)) RETURNING *)
     INSERT INTO timers (id, name, payload, due_at, next_at, expires_at, default_expiry, status, unsure, returns, last_problem, created_at)
     SELECT id, name, payload, due_at, unacked_now(), expires_at, default_expiry, 'Firing', true, returns, 'unknown', created_at FROM back
     ORDER BY id ON CONFLICT (id) DO NOTHING;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER timer_owners_take_over AFTER DELETE ON timer_owners
     FOR EACH ROW EXECUTE FUNCTION unacked_take_over_claims()`,
];

const UP = [...TABLES, ...FUNCTIONS];

const DOWN = [
  ...["timer_owners", "timer_claims", "ended_timers", "timers"].map((table) => `DROP TABLE ${table}`),
  "DROP FUNCTION unacked_take_over_claims",
  "DROP FUNCTION unacked_due_timers_from",
];

export class Timers0013 implements MigrationInterface {
  name = "Timers1800000000013";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
