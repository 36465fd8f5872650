import type { DataSource } from "typeorm";
import type { Log } from "../../../operations/log.ts";

/**
 * Without an ACL only the owner may. Superusers and members of the owner's role may anyway, and are not looked for. Grantee 0
 * is PUBLIC.
 */
const CREATORS = `
  SELECT coalesce(quote_ident(r.rolname), 'PUBLIC') AS name, quote_ident(n.nspname) AS schema
  FROM pg_namespace n CROSS JOIN aclexplode(n.nspacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
  WHERE n.nspname = current_schema() AND a.privilege_type = 'CREATE'
    AND a.grantee <> n.nspowner AND r.rolname IS DISTINCT FROM current_user
  ORDER BY 1`;

/**
 * Managers look for functions and operators in the books' schema, too: any other role that may create some there can have them run with the
 * rights of the managers' role (CVE-2018-1058). In a database's `public` that is every role by default before PostgreSQL 15, and stays so
 * when it is upgraded.
 */
export async function warnOfSchemaCreators(dataSource: DataSource, log: Log): Promise<void> {
  const rows = await dataSource.query<{ name: string; schema: string }[]>(CREATORS);
  const [first] = rows;
  if (first === undefined) return;
  const creators = rows.map(({ name }) => name);
  const remedy = `As its owner: REVOKE CREATE ON SCHEMA ${first.schema} FROM ${creators.join(", ")}; the managers' role has to keep the right (GRANT CREATE ON SCHEMA)`;
  log.warn(
    { event: "schema-shared", creators, remedy },
    "other database roles may create functions in the schema of the books",
  );
}
