import type { MigrationInterface, QueryRunner } from "typeorm";

const BACK_UNSURE = `
  INSERT INTO timers (id, name, payload, due_at, next_at, expires_at, default_expiry, status, unsure, returns, last_problem, created_at)
  SELECT id, name, payload, due_at, unacked_now(), expires_at, default_expiry, 'Firing', true, returns, 'unknown', created_at FROM back`;

/**
 * Without the id: what is set together has one time, and an index keeps equal keys as one (deduplication), where random ids among them cost a third of all
 * that PostgreSQL does for a timer. A page of a list sorts those of one time, 10,000 at most.
 */
const listedBy = (table: string, id: string): string[] => [
  `DROP INDEX ${table}_newest`,
  `CREATE INDEX ${table}_newest ON ${table} (created_at DESC${id})`,
  `DROP INDEX ${table}_of_name`,
  `CREATE INDEX ${table}_of_name ON ${table} (name text_pattern_ops, created_at DESC${id})`,
];

/**
 * docs/decisions/0014-timers.md. A claim moves its timers to `ended_timers`, where they are Firing for as long as `timer_claims` has the claim, and Fired
 * without: no timer is written a second time because it was confirmed. `default_expiry` and `unsure` are for those that have to go back.
 *
 * Managers from before go on beside this: they claim in `timers`, whose columns `owner` and `claim_id` stay for them. They know no claims, but delete
 * the lease of a manager that is gone, in `timer_owners`: therefore a trigger gives back what it was firing.
 */
const UP = [
  ...listedBy("timers", ""),
  ...listedBy("ended_timers", ""),
  "ALTER TABLE ended_timers ADD COLUMN claim_id uuid, ADD COLUMN default_expiry boolean, ADD COLUMN unsure boolean",
  `CREATE TABLE timer_claims (id uuid PRIMARY KEY, owner uuid NOT NULL, ids uuid[] NOT NULL)
     WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500)`,
  // Ids do not compress, and nobody is to try.
  "ALTER TABLE timer_claims ALTER COLUMN ids SET STORAGE EXTERNAL",
  // As unacked_pick_timers of 0035, which managers from before call; where the rows lie, so that nobody looks for them a second time.
  `CREATE FUNCTION unacked_due_timers(at_most integer) RETURNS TABLE (place tid)
     LANGUAGE plpgsql VOLATILE SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
   BEGIN
     RETURN QUERY
       SELECT t.ctid FROM timers t WHERE t.owner IS NULL AND t.next_at <= unacked_now()
       ORDER BY t.next_at LIMIT at_most FOR UPDATE SKIP LOCKED;
   END $$`,
  // It locks in one order, as all do that lock these rows.
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
     ${BACK_UNSURE} ORDER BY id ON CONFLICT (id) DO NOTHING;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER timer_owners_take_over AFTER DELETE ON timer_owners
     FOR EACH ROW EXECUTE FUNCTION unacked_take_over_claims()`,
];

/** What is being fired may have been heard. */
const DOWN = [
  `WITH back AS (
     DELETE FROM ended_timers e USING timer_claims c WHERE c.id = e.claim_id AND e.id = ANY(c.ids) RETURNING e.*) ${BACK_UNSURE}`,
  "DROP TRIGGER timer_owners_take_over ON timer_owners",
  "DROP FUNCTION unacked_take_over_claims",
  "DROP FUNCTION unacked_due_timers",
  "DROP TABLE timer_claims",
  "ALTER TABLE ended_timers DROP COLUMN claim_id, DROP COLUMN default_expiry, DROP COLUMN unsure",
  ...listedBy("timers", ", id DESC"),
  ...listedBy("ended_timers", ", id DESC"),
];

export class TimerClaimsApart0049 implements MigrationInterface {
  name = "TimerClaimsApart1797900000049";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
