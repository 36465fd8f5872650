import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * What is known of who has an observer's message (docs/decisions/0008-proof-of-absence.md): one row a pool, so that any manager
 * goes on with it; it goes when nobody of the pool is in doubt. `not_judged`: observers whose
 * starts were still to be sent as it began, or whose messages were seen since.
 * `commands` needs no column: message_id and revision of a `report-inventory` are its marker and round.
 */
const UP = [
  `CREATE TABLE absence_proofs (
     pool text PRIMARY KEY,
     marker_id uuid NOT NULL,
     begun_at timestamptz NOT NULL DEFAULT now(),
     snapshot pg_snapshot NOT NULL DEFAULT pg_current_snapshot(),
     not_judged uuid[] NOT NULL,
     services text NOT NULL,
     queue_seen_at timestamptz,
     state_seen_at timestamptz,
     round integer NOT NULL DEFAULT 0,
     asked_at timestamptz NOT NULL DEFAULT now(),
     rounds_before integer,
     pair_from integer,
     pair_services text,
     pair_snapshot pg_snapshot,
     CONSTRAINT pair_is_whole CHECK (num_nulls(pair_from, pair_services, pair_snapshot) IN (0, 3))
   )`,
  "ALTER TABLE services ADD COLUMN answered_marker uuid, ADD COLUMN answered_round integer",
];
const DOWN = ["ALTER TABLE services DROP COLUMN answered_marker, DROP COLUMN answered_round", "DROP TABLE absence_proofs"];

export class AbsenceProofs0011 implements MigrationInterface {
  name = "AbsenceProofs1700000000011";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
