import type { MigrationInterface, QueryRunner } from "typeorm";

const drainIsOne = (states: string): string =>
  `DROP CONSTRAINT drain_is_known, ADD CONSTRAINT drain_is_known CHECK (drain IN (${states}))`;

/**
 * What is known of services beyond 0.1.0, whose managers go on writing these rows. Constant defaults: no row is rewritten for them.
 * - `features`: what it announces that it can do
 * - `answered_marker`, `answered_round`: docs/decisions/0008-proof-of-absence.md
 * - `broken_files`: what it could not load of its folder of observers, as it said with its birth: at most 20 files
 * - `slots`, `slot_deaths`, `slot_deaths_lately`: what it said last of its slots (a few hundred bytes each) and of the last five of them that ended
 * - `not_consuming`: why it takes no observers for now
 * - `emits`: by type, what its boot has emitted so far as it told last; null: it has not told (docs/decisions/0021-silence-and-history.md)
 * - `reload_…`: docs/decisions/0028-reload.md. The answer is in no check: the ledger's upsert is checked as an insert, and names it alone
 * - `type_facts`, `types_hash`: 0004-type-facts.ts, and here for the services that are there
 * - `services_gone`: who went without a word lately is looked for whenever the warnings are read; rows of services are kept for weeks
 */
const UP = [
  // Locks all tables of 0.1.0 that change, in the order in which managers lock them: whoever holds one is met before any work is done.
  "LOCK TABLE services, observers, runs, commands, errors, audit IN ACCESS EXCLUSIVE MODE",
  `ALTER TABLE services
     ADD COLUMN features jsonb NOT NULL DEFAULT '[]',
     ADD COLUMN answered_marker uuid,
     ADD COLUMN answered_round integer,
     ADD COLUMN broken_files jsonb NOT NULL DEFAULT '[]',
     ADD COLUMN slots jsonb NOT NULL DEFAULT '[]',
     ADD COLUMN slot_deaths jsonb NOT NULL DEFAULT '[]',
     ADD COLUMN slot_deaths_lately integer NOT NULL DEFAULT 0,
     ADD COLUMN not_consuming text,
     ADD COLUMN emits jsonb,
     ADD COLUMN reload_id uuid,
     ADD COLUMN reload_asked_at timestamptz,
     ADD COLUMN reload_answer jsonb,
     ADD COLUMN type_facts jsonb NOT NULL DEFAULT '[]',
     ADD COLUMN types_hash bigint NOT NULL DEFAULT 0,
     ADD CONSTRAINT reload_is_asked_at_a_time CHECK ((reload_id IS NULL) = (reload_asked_at IS NULL)),
     ${drainIsOne("'none', 'asked', 'begun', 'cordon-asked', 'cordoned', 'lift-asked'")}`,
  "CREATE INDEX services_gone ON services (ended_at) WHERE state = 'Gone'",
  `CREATE TRIGGER services_note_types BEFORE INSERT OR UPDATE OF types ON services
     FOR EACH ROW EXECUTE FUNCTION unacked_note_types()`,
  "UPDATE services SET types = types",
];

/** A cordoned service takes work again with its next process, and who asked for a load that has not been told of does not hear of it. */
const DOWN = [
  "UPDATE services SET drain = 'none' WHERE drain NOT IN ('asked', 'begun')",
  "DROP TRIGGER services_note_types ON services",
  "DROP INDEX services_gone",
  `ALTER TABLE services
     DROP COLUMN features,
     DROP COLUMN answered_marker,
     DROP COLUMN answered_round,
     DROP COLUMN broken_files,
     DROP COLUMN slots,
     DROP COLUMN slot_deaths,
     DROP COLUMN slot_deaths_lately,
     DROP COLUMN not_consuming,
     DROP COLUMN emits,
     DROP COLUMN reload_id,
     DROP COLUMN reload_asked_at,
     DROP COLUMN reload_answer,
     DROP COLUMN type_facts,
     DROP COLUMN types_hash,
     ${drainIsOne("'none', 'asked', 'begun'")}`,
];

export class Services0018 implements MigrationInterface {
  name = "Services1800000000018";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
