import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * `absence_proofs`: what is known of who has an observer's message (docs/decisions/0008-proof-of-absence.md): one row a pool, so that any
 * manager goes on with it; it goes when nobody of the pool is in doubt. `not_judged`: observers whose starts were still to be sent as it
 * began, or whose messages were seen since. `commands` needs no column: message_id and revision of a `report-inventory` are its marker and round.
 *
 * `unknown_runs`: which runs the manager has ordered to stop because the books did not have their observer: only such an observer is
 * taken back when its message is reported. The order itself (`commands`) is forgotten as soon as it was followed, and the report
 * may be read later. `pool` is that of the service as the books knew it then.
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
  `CREATE TABLE unknown_runs (
     run_id uuid PRIMARY KEY,
     observer_id uuid NOT NULL,
     message_id uuid NOT NULL,
     revision integer NOT NULL,
     service_id uuid NOT NULL,
     service_name text NOT NULL,
     pool text NOT NULL,
     ordered_at timestamptz NOT NULL DEFAULT now()
   )`,
  "CREATE INDEX unknown_runs_by_time ON unknown_runs (ordered_at)",
];

const DOWN = ["DROP TABLE unknown_runs", "DROP TABLE absence_proofs"];

export class AbsenceProofs0003 implements MigrationInterface {
  name = "AbsenceProofs1800000000003";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
