import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { codeBlocksOf } from "../support/docs/code-blocks.ts";
import { pages } from "../support/docs/pages.ts";
import { useBooks } from "../support/servers/books.ts";

const books = useBooks();

const blocks = pages
  .flatMap((page) => codeBlocksOf(page, readFileSync(page, "utf8")))
  .filter(({ language, fragment }) => language === "sql" && fragment === undefined);

test("the SQL of each page runs on the books as they are, one block after another, in a transaction that is rolled back", async () => {
  expect(blocks.length).toBeGreaterThan(3);
  const flaws: string[] = [];
  for (const page of new Set(blocks.map((block) => block.page))) {
    const client = new pg.Client(books.databaseUrl);
    await client.connect();
    try {
      await client.query("BEGIN");
      const beside = join("test/fixtures", page.replace(/\.md$/, ""), "beside.sql");
      if (existsSync(beside)) await client.query(readFileSync(beside, "utf8"));
      for (const block of blocks.filter((one) => one.page === page)) {
        const failed = await client.query(runnable(block.text)).then(
          () => undefined,
          (error: unknown) => String(error),
        );
        if (failed === undefined) continue;
        flaws.push(`${page}:${block.line}: ${failed}`);
        break; // the transaction is over with it
      }
    } finally {
      await client.end();
    }
  }
  expect(flaws).toEqual([]);
});

/** In the transaction of the test; one with parameters is only prepared, which finds all that does not fit the tables. */
function runnable(text: string): string {
  if (/\$\d/.test(text)) return `PREPARE block AS ${text}; DEALLOCATE block`;
  return text.replaceAll(/^(?:BEGIN|COMMIT);$/gm, "");
}
