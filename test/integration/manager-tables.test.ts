import type { DataSource, EntityMetadata } from "typeorm";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { migrate } from "../../services/observer-manager/src/adapters/postgres/connection/migrate.ts";
import { keptLog } from "../support/servers/books.ts";
import { freshDatabase } from "../support/servers/servers.ts";

interface Column {
  table: string;
  name: string;
  type: string;
  isNullable: boolean;
}

const COLUMNS = `
  SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS "isNullable"
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
    AND c.relname <> 'migrations'
  ORDER BY 1, 2`;

/** Those that belong to a primary key or a unique column have names of PostgreSQL's own. */
const INDEXES = `
  SELECT t.relname || ' ' || i.relname || CASE WHEN x.indisunique THEN ' unique' ELSE '' END AS index
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
  WHERE t.relnamespace = 'public'::regnamespace AND NOT t.relispartition AND t.relname <> 'migrations'
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid)
  ORDER BY 1`;

describe("the tables that the migrations leave", () => {
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = (await freshDatabase()).databaseUrl;
  });

  async function migrated(): Promise<DataSource> {
    const dataSource = await createDataSource({ databaseUrl, log: keptLog() }).initialize();
    onTestFinished(() => dataSource.destroy());
    await migrate(dataSource);
    return dataSource;
  }

  test("have the columns that are described, of these types, and no others", async () => {
    const dataSource = await migrated();
    const described = dataSource.entityMetadatas.flatMap(columnsOf);
    expect(sorted(described)).toEqual(sorted(await dataSource.query<Column[]>(COLUMNS)));
  });

  test("have the indexes that are described, and no others", async () => {
    const dataSource = await migrated();
    const described = dataSource.entityMetadatas.flatMap(({ tableName, indices }) =>
      indices.map(({ name, isUnique }) => `${tableName} ${name}${isUnique ? " unique" : ""}`),
    );
    const there = await dataSource.query<{ index: string }[]>(INDEXES);
    expect(described.toSorted()).toEqual(there.map(({ index }) => index).toSorted());
  });
});

const columnsOf = ({ tableName, columns }: EntityMetadata): Column[] =>
  columns.map(({ databaseName, type, isArray, isNullable }) => ({
    table: tableName,
    name: databaseName,
    type: `${type === "timestamptz" ? "timestamp with time zone" : String(type)}${isArray ? "[]" : ""}`,
    isNullable,
  }));

const sorted = (columns: Column[]): string[] =>
  columns.map(({ table, name, type, isNullable }) => `${table}.${name} ${type}${isNullable ? "" : " not null"}`).toSorted();
