import type { MigrationInterface, QueryRunner } from "typeorm";

const ofEach = (what: string, types: string): string =>
  `(SELECT coalesce(jsonb_agg(${what}), '[]') FROM jsonb_array_elements(${types}) AS t)`;

const factsOf = (types: string): string => ofEach("t - '{paramsSchema,checkpointSchema,description}'::text[]", types);
/** Without how long tasks take, which a manager of before writes among them. */
const hashOf = (types: string): string => `hashtextextended(${ofEach("t - 'meanMs'", types)}::text, 0)`;

const SAFE_PATH = "SET search_path = pg_catalog, pg_temp";
const TABLES = ["services", "task_services"];

/**
 * What services announce of their types is long, as each brings its schemas: of twenty services with thirty types each, a create was checked against 2 MB
 * (28 ms), and each look at who has a type unpacked as much. So each row has, beside them, what is short of its types, and a number that is the same
 * where the types are. Both are made when the types are written, whichever manager does that, and only then: by a trigger, as PostgreSQL before 16 makes
 * generated columns anew with each INSERT … ON CONFLICT. How long tasks take stands beside them, too: it is told anew all the time.
 */
const UP = [
  ...TABLES.map(
    (table) => `
  ALTER TABLE ${table} ADD COLUMN type_facts jsonb NOT NULL DEFAULT '[]', ADD COLUMN types_hash bigint NOT NULL DEFAULT 0`,
  ),
  "ALTER TABLE task_services ADD COLUMN means jsonb NOT NULL DEFAULT '{}'",
  `CREATE FUNCTION unacked_types_hash(types jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE ${SAFE_PATH}
     AS $$ SELECT ${hashOf("types")} $$`,
  `CREATE FUNCTION unacked_note_types() RETURNS trigger LANGUAGE plpgsql ${SAFE_PATH} AS $$
   BEGIN
     NEW.type_facts := ${factsOf("NEW.types")};
     NEW.types_hash := ${hashOf("NEW.types")};
     RETURN NEW;
   END $$`,
  ...TABLES.flatMap((table) => [
    `CREATE TRIGGER ${table}_note_types BEFORE INSERT OR UPDATE OF types ON ${table}
       FOR EACH ROW EXECUTE FUNCTION unacked_note_types()`,
    `UPDATE ${table} SET types = types`,
  ]),
];

const DOWN = [
  ...TABLES.map((table) => `DROP TRIGGER ${table}_note_types ON ${table}`),
  "DROP FUNCTION unacked_note_types()",
  "DROP FUNCTION unacked_types_hash(jsonb)",
  "ALTER TABLE task_services DROP COLUMN means",
  ...TABLES.map((table) => `ALTER TABLE ${table} DROP COLUMN type_facts, DROP COLUMN types_hash`),
];

export class TypeFacts0062 implements MigrationInterface {
  name = "TypeFacts1799000000062";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
