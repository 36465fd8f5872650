import type { MigrationInterface, QueryRunner } from "typeorm";

const FUNCTIONS = ["unacked_create_task", "unacked_grant_task_wish"];
const TABLES = ["tasks", "ended_tasks", "task_wishes", "task_figure_deltas", "audit"];

/** What they name of the books, behind what: their messages speak of tasks, too. */
const NAMED: [before: string, name: string][] = [
  ["", "unacked_now()"],
  ...TABLES.flatMap((table) => ["INTO", "FROM", "UPDATE"].map((word): [string, string] => [`${word} `, `${table} `])),
];

/**
 * Changed where it stands, so that whom it was granted to keeps it. No table is locked, and calls under way end as they began.
 *
 * @param was what stands before a name of the books, and @param is what shall
 */
async function rename(queryRunner: QueryRunner, name: string, was: string, is: string, path: string): Promise<void> {
  const found = `SELECT pg_get_functiondef('${name}'::regproc) AS definition`;
  const [{ definition }] = (await queryRunner.query(found)) as [{ definition: string }];
  const renamed = NAMED.reduce(
    (text, [before, what]) => text.replaceAll(before + was + what, () => before + is + what),
    definition,
  );
  await queryRunner.query(renamed);
  await queryRunner.query(`ALTER FUNCTION ${name} SET search_path = ${path}`);
}

async function schemaOf(queryRunner: QueryRunner): Promise<string> {
  const [{ books }] = (await queryRunner.query("SELECT quote_ident(current_schema()) AS books")) as [{ books: string }];
  return books;
}

/**
 * `unacked_create_task`, and what grants its wishes at the commit, run as who owns the books, and had the books' schema in their path. That pg_catalog
 * was before it is no help where arguments fit another function better (`jsonb_build_array(jsonb)`, `text || xid8`): whoever might create that there
 * (in `public` before PostgreSQL 15: anybody) had it run as the owner. Now the schema is not in the path, and what is of the books is named with it.
 * https://www.postgresql.org/docs/current/sql-createfunction.html#SQL-CREATEFUNCTION-SECURITY
 */
export class PathsWithoutBooks0061 implements MigrationInterface {
  name = "PathsWithoutBooks1798900000061";

  async up(queryRunner: QueryRunner): Promise<void> {
    const books = await schemaOf(queryRunner);
    for (const name of FUNCTIONS) await rename(queryRunner, name, "", `${books}.`, "pg_catalog, pg_temp");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const books = await schemaOf(queryRunner);
    for (const name of FUNCTIONS) await rename(queryRunner, name, `${books}.`, "", `pg_catalog, ${books}, pg_temp`);
  }
}
