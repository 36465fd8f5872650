import { randomBytes } from "node:crypto";
import { createDataSource } from "../../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { migrate } from "../../../services/observer-manager/src/adapters/postgres/connection/migrate.ts";
import { runStatement } from "./statements.ts";

const silent = () => undefined;
const LOG = { debug: silent, info: silent, warn: silent, error: silent };

export interface BooksTemplate {
  name: string;
  drop(): Promise<void>;
}

/**
 * A database as the migrations leave it, once a run: the files that have books and no manager begin with a copy. To migrate takes two seconds where
 * three files share two cores, and to copy a quarter of one. Nobody connects to it, as who is copied may have no sessions. Managers of whole systems
 * migrate theirs themselves: as users' do, and what they know only some seconds after that is tested so.
 */
export async function makeBooksTemplate(serverUrl: string): Promise<BooksTemplate> {
  const name = `test_template_${randomBytes(6).toString("hex")}`;
  const databaseUrl = new URL(serverUrl);
  databaseUrl.pathname = `/${name}`;
  await runStatement(serverUrl, `CREATE DATABASE "${name}"`);
  const dataSource = await createDataSource({ databaseUrl: databaseUrl.href, poolSize: 1, log: LOG }).initialize();
  await migrate(dataSource);
  await dataSource.destroy();
  await runStatement(serverUrl, `ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
  return { name, drop: () => runStatement(serverUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`) };
}
