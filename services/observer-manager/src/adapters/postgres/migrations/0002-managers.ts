import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * `managers`: what each announces that it can do. It renews its row every few seconds and takes it away when it ends; each renewal
 * removes those of managers that are silent. One of 0.1.0 has none. `known_features`: what all managers have been seen to know, so that
 * one that starts need not watch them for it again (docs/decisions/0020-admission.md).
 */
const UP = [
  `CREATE TABLE managers (
     id uuid PRIMARY KEY,
     version text NOT NULL,
     features jsonb NOT NULL,
     is_consuming boolean NOT NULL,
     started_at timestamptz NOT NULL DEFAULT now(),
     seen_at timestamptz NOT NULL DEFAULT now()
   )`,
  `CREATE TABLE known_features (
     feature text PRIMARY KEY,
     known_at timestamptz NOT NULL DEFAULT now()
   )`,
];

const DOWN = ["DROP TABLE known_features", "DROP TABLE managers"];

export class Managers0002 implements MigrationInterface {
  name = "Managers1800000000002";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
