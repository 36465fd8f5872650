import { expect, test } from "vitest";
import { PostgresCommandStore } from "../../services/observer-manager/src/adapters/postgres/commands/postgres-command-store.ts";
import type { DueCommand } from "../../services/observer-manager/src/operations/commands/command-store.ts";
import { putObserver, useBooks } from "../support/servers/books.ts";

/* Two thousand starts with long params are read by one claim: a manager that this ended left them to the next. */

const books = useBooks("commands, observers");
const COUNT = 100; // 24 MB
const CHARS = 240_000;

const lengthOf = (command: DueCommand): number =>
  command.kind === "start" && command.start !== null ? (command.start.params as { text: string }).text.length : 0;

test("A claim reads 16 MiB of params of observers to be started, and the next ones the others, each once", async () => {
  const ids: string[] = [];
  for (let i = 0; i < COUNT; i += 1) ids.push(await putObserver(books.dataSource));
  await books.dataSource.query("UPDATE observers SET params = jsonb_build_object('text', repeat('x', $1))", [CHARS]);
  await books.dataSource.query("INSERT INTO commands (kind, observer_id, revision) SELECT 'start', unnest($1::uuid[]), 1", [
    ids,
  ]);
  const store = new PostgresCommandStore(books.dataSource);
  const started: string[] = [];
  const counts: number[] = [];
  for (let left = true; left; ) {
    const { due } = await store.claimDue(2_000, 60_000, { firstMs: 5_000, maxMs: 60_000 });
    left = due.length > 0;
    if (left) counts.push(due.length);
    for (const command of due) expect(lengthOf(command)).toBe(CHARS);
    started.push(...due.flatMap((command) => (command.kind === "start" ? (command.start?.observerId ?? []) : [])));
  }
  expect(counts.length).toBe(2);
  expect(Math.max(...counts)).toBeLessThan(75);
  expect(started.toSorted()).toEqual(ids.toSorted());
});
