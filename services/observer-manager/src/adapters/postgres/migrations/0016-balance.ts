import type { MigrationInterface, QueryRunner } from "typeorm";

/** docs/decisions/0025-balance.md. */
const UP = [
  `CREATE TABLE rebalances (
     id uuid PRIMARY KEY,
     pool text NOT NULL,
     asked_by text NOT NULL,
     why text NOT NULL,
     begun_at timestamptz NOT NULL DEFAULT now(),
     step_at timestamptz NOT NULL DEFAULT now(),
     planned integer NOT NULL,
     moved integer NOT NULL DEFAULT 0,
     waits text,
     waits_since timestamptz,
     ended_at timestamptz,
     outcome text,
     CONSTRAINT rebalance_ends_somehow CHECK ((ended_at IS NULL) = (outcome IS NULL))
   )`,
  "CREATE UNIQUE INDEX rebalances_one_under_way ON rebalances (pool) WHERE ended_at IS NULL",
  "CREATE INDEX rebalances_of_pool ON rebalances (pool, begun_at DESC)",
  `CREATE TABLE moves (
     run_id uuid PRIMARY KEY,
     observer_id uuid NOT NULL,
     asked_at timestamptz NOT NULL DEFAULT now(),
     asked_by text NOT NULL,
     why text NOT NULL
   )`,
  "CREATE INDEX moves_of_observer ON moves (observer_id, asked_at)",
  "CREATE INDEX moves_by_time ON moves (asked_at)",
];

const DOWN = ["DROP TABLE moves", "DROP TABLE rebalances"];

export class Balance0016 implements MigrationInterface {
  name = "Balance1800000000016";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
