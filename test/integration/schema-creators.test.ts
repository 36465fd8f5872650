import { expect, test } from "vitest";
import { warnOfSchemaCreators } from "../../services/observer-manager/src/adapters/postgres/connection/schema-creators.ts";
import { keptLog, useBooks } from "../support/servers/books.ts";

/* Who may create functions in the schema of the books may have managers run them. */

const books = useBooks();

async function warned(...statements: string[]) {
  for (const statement of statements) await books.dataSource.query(statement);
  const log = keptLog();
  await warnOfSchemaCreators(books.dataSource, log);
  return log.lines.map(({ fields }) => fields);
}

test("A schema that only its owner and the managers' role may create in is nothing to warn of", async () => {
  const others = "REVOKE CREATE ON SCHEMA public FROM PUBLIC"; // before PostgreSQL 15 it is there
  expect(await warned(others, "GRANT CREATE ON SCHEMA public TO CURRENT_USER")).toEqual([]);
  expect(await warned("GRANT USAGE ON SCHEMA public TO pg_monitor")).toEqual([]);
});

test("Whoever else may is named, with what to do", async () => {
  expect(await warned("GRANT CREATE ON SCHEMA public TO PUBLIC, pg_monitor")).toMatchObject([
    {
      event: "schema-shared",
      creators: ["PUBLIC", "pg_monitor"],
      remedy: expect.stringContaining("REVOKE CREATE ON SCHEMA public FROM PUBLIC, pg_monitor"),
    },
  ]);
});
