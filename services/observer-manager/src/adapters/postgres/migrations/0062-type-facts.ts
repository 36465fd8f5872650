import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * What services announce of their types is long, as each brings its schemas: of twenty services with thirty types each, a create was checked against 2 MB
 * (28 ms), and each look at who has a type unpacked as much. So each row has, beside them, what is short of its types, and a number that is the same
 * where the types are. PostgreSQL makes both when the types are written, whichever manager does that, and only then.
 */
const FUNCTIONS = [
  `CREATE FUNCTION unacked_type_facts(types jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
     SET search_path = pg_catalog, pg_temp
     AS $$ SELECT coalesce(jsonb_agg(t - '{paramsSchema,checkpointSchema,description}'::text[]), '[]') FROM jsonb_array_elements(types) AS t $$`,
  // How long tasks take stands beside them, and stood among them.
  `CREATE FUNCTION unacked_types_hash(types jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
     SET search_path = pg_catalog, pg_temp
     AS $$ SELECT hashtextextended(coalesce(jsonb_agg(t - 'meanMs'), '[]')::text, 0) FROM jsonb_array_elements(types) AS t $$`,
];

const TABLES = ["services", "task_services"];

/** By type: that is told anew all the time, and stood among them, so that all were written for it. */
const MEANS = "ALTER TABLE task_services ADD COLUMN means jsonb NOT NULL DEFAULT '{}'";

const columnsOf = (table: string): string => `
  ALTER TABLE ${table}
    ADD COLUMN type_facts jsonb NOT NULL GENERATED ALWAYS AS (unacked_type_facts(types)) STORED,
    ADD COLUMN types_hash bigint NOT NULL GENERATED ALWAYS AS (unacked_types_hash(types)) STORED`;

export class TypeFacts0062 implements MigrationInterface {
  name = "TypeFacts1799000000062";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...FUNCTIONS, ...TABLES.map(columnsOf), MEANS]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE task_services DROP COLUMN means");
    for (const table of TABLES)
      await queryRunner.query(`ALTER TABLE ${table} DROP COLUMN type_facts, DROP COLUMN types_hash`);
    for (const name of ["unacked_type_facts", "unacked_types_hash"]) await queryRunner.query(`DROP FUNCTION ${name}(jsonb)`);
  }
}
