import type { MigrationInterface, QueryRunner } from "typeorm";

const KINDS = ["start", "stop", "stop-run", "restart-run", "report-inventory", "probe", "drain", "admit", "tell-checkpoint"];

const KINDS_ARE = (kinds: string[]): string[] => [
  "ALTER TABLE commands DROP CONSTRAINT command_kind_is_known",
  `ALTER TABLE commands ADD CONSTRAINT command_kind_is_known CHECK (kind IN (${kinds.map((kind) => `'${kind}'`).join(", ")}))`,
];

/** docs/decisions/0022-hot-update.md. The column is null in every row that is there; the check reads every command once. */
const UP = [
  "ALTER TABLE observers ADD COLUMN rejected_update jsonb",
  ...KINDS_ARE([...KINDS, "update-run"]),
  `ALTER TABLE commands ADD CONSTRAINT update_is_of_a_run CHECK
     (kind <> 'update-run' OR (observer_id IS NOT NULL AND run_id IS NOT NULL AND message_id IS NOT NULL AND revision IS NOT NULL))`,
  "CREATE UNIQUE INDEX commands_one_of_update ON commands (run_id) WHERE kind = 'update-run'",
];

/** What is being told is stopped and sent again by its next change; what was rejected is wanted again. */
const DOWN = [
  "DROP INDEX commands_one_of_update",
  "DELETE FROM commands WHERE kind = 'update-run'",
  "ALTER TABLE commands DROP CONSTRAINT update_is_of_a_run",
  ...KINDS_ARE(KINDS),
  "ALTER TABLE observers DROP COLUMN rejected_update",
];

export class HotUpdate0039 implements MigrationInterface {
  name = "HotUpdate1797700000039";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
