import { expect, test } from "vitest";
import { PostgresUnappliedStore } from "../../services/observer-manager/src/adapters/postgres/books/unapplied-events.ts";
import { useBooks } from "../support/servers/books.ts";

/* Each manager reads what none of them understands every few seconds: five hundred events of 256 KiB took 125 MiB each time. */

const books = useBooks("errors, unapplied_events");

/** Of which PostgreSQL compresses the text, or not. */
async function keep(count: number, characters: number, isAlike = true): Promise<void> {
  const text = isAlike
    ? "repeat('x', $2::int)"
    : "(SELECT string_agg(md5(n || ' ' || i), '') FROM generate_series(1, $2::int / 32) i)";
  await books.dataSource.query(
    `WITH kept AS (
       INSERT INTO errors (message_id, reason, detail, error_group, queue, reporter, body, body_bytes)
       SELECT gen_random_uuid(), 'unreadable', 'd', 'g', 'q', 'm', '', 0 FROM generate_series(1, $1::int)
       RETURNING message_id)
     INSERT INTO unapplied_events (error_message_id, observer_ids, batch)
     SELECT message_id, '{}', ${text} FROM (SELECT message_id, row_number() OVER () AS n FROM kept) kept`,
    [count, characters],
  );
}

/** How many each page has, and their characters. */
async function pages(): Promise<{ count: number; characters: number }[]> {
  const store = new PostgresUnappliedStore(books.dataSource);
  const seen = new Set<string>();
  const found: { count: number; characters: number }[] = [];
  for (let after = "0"; ; ) {
    const page = await store.readUnapplied(after, 500);
    const last = page.at(-1);
    if (last === undefined) break;
    found.push({ count: page.length, characters: page.reduce((sum, { batch }) => sum + batch.length, 0) });
    for (const { id } of page) seen.add(id);
    after = last.position;
  }
  expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(seen.size);
  return found;
}

test.each([true, false])(
  "Of long events that nobody understands 8 MiB are read at a time, and all in turn: %s",
  async (isAlike) => {
    await keep(40, 1_048_576, isAlike);
    const found = await pages();
    expect(found.map(({ count }) => count)).toEqual([8, 8, 8, 8, 8]);
  },
);

test("Of short ones as many are read as are asked for, and one that is longer than all of that alone", async () => {
  await keep(600, 1_000);
  await keep(2, 10_000_000);
  expect((await pages()).map(({ count }) => count)).toEqual([500, 101, 1]);
});
