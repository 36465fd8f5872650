import type { MigrationInterface, QueryRunner } from "typeorm";

const listed = (words: string[]): string => words.map((word) => `'${word}'`).join(", ");

const OF_RUNS = ["stop-run", "restart-run", "admit", "tell-checkpoint", "update-run"];
const KINDS = ["start", "stop", ...OF_RUNS, "report-inventory", "probe", "drain"];
const OF_BALANCE = ["move-run", "cordon", "uncordon", "step-aside"];
const TO_A_GENERATION = ["report-inventory", "probe", "drain"];

const KINDS_ARE = (kinds: string[]): string[] => [
  "ALTER TABLE commands DROP CONSTRAINT command_kind_is_known",
  `ALTER TABLE commands ADD CONSTRAINT command_kind_is_known CHECK (kind IN (${listed(kinds)}))`,
];

const DRAINS_ARE = (states: string[]): string[] => [
  "ALTER TABLE services DROP CONSTRAINT drain_is_known",
  `ALTER TABLE services ADD CONSTRAINT drain_is_known CHECK (drain IN (${listed(states)}))`,
];

/** Older managers name fewer kinds where they mean this index, which PostgreSQL finds all the same: those imply its predicate. */
const GENERATION_INDEX = (kinds: string[]): string[] => [
  "DROP INDEX commands_one_per_generation",
  `CREATE UNIQUE INDEX commands_one_per_generation ON commands (service_id, generation, kind) WHERE kind IN (${listed(kinds)})`,
];

/** docs/decisions/0025-balance.md. */
const UP = [
  ...KINDS_ARE([...KINDS, ...OF_BALANCE]),
  `ALTER TABLE commands ADD CONSTRAINT move_is_of_a_run CHECK
     (kind <> 'move-run' OR (observer_id IS NOT NULL AND run_id IS NOT NULL AND message_id IS NOT NULL AND revision IS NOT NULL))`,
  "CREATE UNIQUE INDEX commands_one_move ON commands (run_id) WHERE kind = 'move-run'",
  ...GENERATION_INDEX([...TO_A_GENERATION, "cordon", "uncordon", "step-aside"]),
  ...DRAINS_ARE(["none", "asked", "begun", "cordon-asked", "cordoned", "lift-asked"]),
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
     why text NOT NULL
   )`,
  "CREATE INDEX moves_of_observer ON moves (observer_id, asked_at)",
  "CREATE INDEX moves_by_time ON moves (asked_at)",
];

/** Who was cordoned takes work again with its next process. */
const DOWN = [
  "DROP TABLE moves",
  "DROP TABLE rebalances",
  `DELETE FROM commands WHERE kind IN (${listed(OF_BALANCE)})`,
  "DROP INDEX commands_one_move",
  "ALTER TABLE commands DROP CONSTRAINT move_is_of_a_run",
  ...GENERATION_INDEX(TO_A_GENERATION),
  ...KINDS_ARE(KINDS),
  "UPDATE services SET drain = 'none' WHERE drain NOT IN ('asked', 'begun')",
  ...DRAINS_ARE(["none", "asked", "begun"]),
];

export class Balance0046 implements MigrationInterface {
  name = "Balance1797700000046";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
