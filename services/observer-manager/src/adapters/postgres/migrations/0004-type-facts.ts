import type { MigrationInterface, QueryRunner } from "typeorm";

const SAFE_PATH = "SET search_path = pg_catalog, pg_temp";

/**
 * What services announce of their types is long, as each brings its schemas: of twenty services with thirty types each, a create was checked against 2 MB
 * (28 ms), and each look at who has a type unpacked as much. So each row of `services` and `task_services` has, beside them, what is short of its types,
 * and a number that is the same where the types are. Both are made when the types are written, by managers of 0.1.0 too, and only then: by a trigger, as
 * PostgreSQL before 16 makes generated columns anew with each INSERT … ON CONFLICT.
 */
const UP = [
  `CREATE FUNCTION unacked_note_types() RETURNS trigger LANGUAGE plpgsql ${SAFE_PATH} AS $$
   BEGIN
     NEW.type_facts := (SELECT coalesce(jsonb_agg(t - '{paramsSchema,checkpointSchema,description}'::text[]), '[]')
       FROM jsonb_array_elements(NEW.types) AS t);
     NEW.types_hash := hashtextextended(NEW.types::text, 0);
     RETURN NEW;
   END $$`,
];

const DOWN = ["DROP FUNCTION unacked_note_types()"];

export class TypeFacts0004 implements MigrationInterface {
  name = "TypeFacts1800000000004";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
