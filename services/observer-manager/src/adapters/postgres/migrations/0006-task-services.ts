import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0011-tasks.md. `means`: how long tasks of each type take there, beside the types, as it is told anew all the time.
 * `task_proofs`: what is known of whose messages are lost, one row a pool.
 */
const UP = [
  `CREATE TABLE task_services (
     id uuid PRIMARY KEY,
     generation integer NOT NULL,
     name text NOT NULL,
     pool text NOT NULL,
     workers integer NOT NULL,
     draining boolean NOT NULL,
     types jsonb NOT NULL,
     type_facts jsonb NOT NULL DEFAULT '[]',
     types_hash bigint NOT NULL DEFAULT 0,
     means jsonb NOT NULL DEFAULT '{}',
     last_seq bigint NOT NULL DEFAULT 0,
     seen_at timestamptz NOT NULL DEFAULT now()
   )`,
  `CREATE TRIGGER task_services_note_types BEFORE INSERT OR UPDATE OF types ON task_services
     FOR EACH ROW EXECUTE FUNCTION unacked_note_types()`,
  `CREATE TABLE task_proofs (
     pool text PRIMARY KEY,
     marker_id uuid NOT NULL,
     begun_at timestamptz NOT NULL DEFAULT now(),
     services text[] NOT NULL,
     seen_at timestamptz,
     asked_at timestamptz,
     answered text[] NOT NULL DEFAULT '{}',
     held uuid[] NOT NULL DEFAULT '{}'
   )`,
];

const DOWN = ["DROP TABLE task_proofs", "DROP TABLE task_services"];

export class TaskServices0006 implements MigrationInterface {
  name = "TaskServices1800000000006";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
