import type { MigrationInterface, QueryRunner } from "typeorm";

const listed = (words: string[]): string => words.map((word) => `'${word}'`).join(", ");

const TO_A_GENERATION = ["report-inventory", "probe", "drain", "cordon", "uncordon", "step-aside"];
const OF_RUNS = ["stop-run", "restart-run", "admit", "tell-checkpoint", "update-run", "move-run"];
const KINDS = ["start", "stop", ...OF_RUNS, ...TO_A_GENERATION];

const KINDS_ARE = (kinds: string[]): string[] => [
  "ALTER TABLE commands DROP CONSTRAINT command_kind_is_known",
  `ALTER TABLE commands ADD CONSTRAINT command_kind_is_known CHECK (kind IN (${listed(kinds)}))`,
];

/** Older managers name fewer kinds where they mean this index, which PostgreSQL finds all the same: those imply its predicate. */
const GENERATION_INDEX = (kinds: string[]): string[] => [
  "DROP INDEX commands_one_per_generation",
  `CREATE UNIQUE INDEX commands_one_per_generation ON commands (service_id, generation, kind) WHERE kind IN (${listed(kinds)})`,
];

/** docs/decisions/0028-reload.md. */
const UP = [
  // Services first: that is the order in which managers at work lock them.
  "ALTER TABLE services ADD COLUMN reload_id uuid, ADD COLUMN reload_asked_at timestamptz, ADD COLUMN reload_answer jsonb",
  // Not of the answer too: the ledger's upsert is checked as an insert, and names the answer alone.
  "ALTER TABLE services ADD CONSTRAINT reload_is_asked_at_a_time CHECK ((reload_id IS NULL) = (reload_asked_at IS NULL))",
  ...KINDS_ARE([...KINDS, "reload"]),
  "ALTER TABLE commands ADD CONSTRAINT reload_has_an_id CHECK (kind <> 'reload' OR message_id IS NOT NULL)",
  ...GENERATION_INDEX([...TO_A_GENERATION, "reload"]),
];

/** Who asked for a load that has not been told of does not hear of it. */
const DOWN = [
  "ALTER TABLE services DROP COLUMN reload_answer, DROP COLUMN reload_asked_at, DROP COLUMN reload_id",
  "DELETE FROM commands WHERE kind = 'reload'",
  ...GENERATION_INDEX(TO_A_GENERATION),
  "ALTER TABLE commands DROP CONSTRAINT reload_has_an_id",
  ...KINDS_ARE(KINDS),
];

export class Reload0047 implements MigrationInterface {
  name = "Reload1797700000047";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
