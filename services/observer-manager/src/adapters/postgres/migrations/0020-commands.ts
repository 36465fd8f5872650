import type { MigrationInterface, QueryRunner } from "typeorm";

const listed = (words: string[]): string => words.map((word) => `'${word}'`).join(", ");

/** The kinds in 0.1.0, and now: admission (docs/decisions/0020-admission.md), changes (0022), balance (0025), reload (0028). */
const OF_RUNS = ["stop-run", "restart-run"];
const OF_RUNS_NOW = [...OF_RUNS, "admit", "tell-checkpoint", "update-run", "move-run"];
const TO_A_GENERATION = ["report-inventory", "probe", "drain"];
const TO_A_GENERATION_NOW = [...TO_A_GENERATION, "cordon", "uncordon", "step-aside", "reload"];

const kindsAre = (ofRuns: string[], toAGeneration: string[]): string =>
  `DROP CONSTRAINT command_kind_is_known,
     ADD CONSTRAINT command_kind_is_known CHECK (kind IN (${listed(["start", "stop", ...ofRuns, ...toAGeneration])}))`;

/** Managers of 0.1.0 name fewer kinds where they mean this index, which PostgreSQL finds all the same: those imply its predicate. */
const generationIndex = (kinds: string[]): string[] => [
  "DROP INDEX commands_one_per_generation",
  `CREATE UNIQUE INDEX commands_one_per_generation ON commands (service_id, generation, kind) WHERE kind IN (${listed(kinds)})`,
];

const OF_A_RUN = "observer_id IS NOT NULL AND run_id IS NOT NULL AND message_id IS NOT NULL AND revision IS NOT NULL";

/**
 * `claim_id`, `claimed_at`: who is sending it just now, since when; `due_at` is then when the claim runs out. So managers of 0.1.0
 * leave it alone, too: to them it is not due. No index: a claim is looked for by the ids of its commands. The checks read every command once.
 */
const UP = [
  `ALTER TABLE commands
     ADD COLUMN claim_id uuid,
     ADD COLUMN claimed_at timestamptz,
     ${kindsAre(OF_RUNS_NOW, TO_A_GENERATION_NOW)},
     ADD CONSTRAINT claim_has_a_time CHECK ((claim_id IS NULL) = (claimed_at IS NULL)),
     ADD CONSTRAINT admission_is_of_a_run CHECK (kind NOT IN ('admit', 'tell-checkpoint') OR (${OF_A_RUN})),
     ADD CONSTRAINT update_is_of_a_run CHECK (kind <> 'update-run' OR (${OF_A_RUN})),
     ADD CONSTRAINT move_is_of_a_run CHECK (kind <> 'move-run' OR (${OF_A_RUN})),
     ADD CONSTRAINT reload_has_an_id CHECK (kind <> 'reload' OR message_id IS NOT NULL)`,
  "CREATE UNIQUE INDEX commands_one_of_admission ON commands (run_id, kind) WHERE kind IN ('admit', 'tell-checkpoint')",
  "CREATE UNIQUE INDEX commands_one_of_update ON commands (run_id) WHERE kind = 'update-run'",
  "CREATE UNIQUE INDEX commands_one_move ON commands (run_id) WHERE kind = 'move-run'",
  ...generationIndex(TO_A_GENERATION_NOW),
];

/** Deletes the kinds that 0.1.0 does not know. A run that is being told of a change is stopped and sent again by its next change. */
const DOWN = [
  ...["commands_one_move", "commands_one_of_update", "commands_one_of_admission"].map((index) => `DROP INDEX ${index}`),
  `DELETE FROM commands WHERE kind NOT IN (${listed(["start", "stop", ...OF_RUNS, ...TO_A_GENERATION])})`,
  `ALTER TABLE commands
     DROP COLUMN claim_id,
     DROP COLUMN claimed_at,
     ${kindsAre(OF_RUNS, TO_A_GENERATION)},
     DROP CONSTRAINT admission_is_of_a_run,
     DROP CONSTRAINT update_is_of_a_run,
     DROP CONSTRAINT move_is_of_a_run,
     DROP CONSTRAINT reload_has_an_id`,
  ...generationIndex(TO_A_GENERATION),
];

export class Commands0020 implements MigrationInterface {
  name = "Commands1800000000020";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
