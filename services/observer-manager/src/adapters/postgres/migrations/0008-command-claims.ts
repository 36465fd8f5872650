import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * Who is sending a command just now: the claim, since when; `due_at` is then when the claim runs out. So managers of 0.1.0
 * leave it alone, too: to them it is not due. No index: a claim is looked for by the ids of its commands.
 */
const UP = [
  "ALTER TABLE commands ADD COLUMN claim_id uuid, ADD COLUMN claimed_at timestamptz",
  "ALTER TABLE commands ADD CONSTRAINT claim_has_a_time CHECK ((claim_id IS NULL) = (claimed_at IS NULL))",
];

const DOWN = ["ALTER TABLE commands DROP COLUMN claim_id, DROP COLUMN claimed_at"];

export class CommandClaims0008 implements MigrationInterface {
  name = "CommandClaims1795200000008";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
