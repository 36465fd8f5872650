import pg from "pg";
import type { DataSource } from "typeorm";
import { expect, it } from "vitest";
import { Vacuum } from "../../services/observer-manager/src/adapters/postgres/upkeep/vacuum.ts";
import { eventually } from "../support/eventually.ts";
import { useBooks } from "../support/servers/books.ts";

const books = useBooks("tasks");
const ENOUGH = 20_000;

/** The real database; and what was sent to it, and what became of that. */
function watched(query: (sql: string) => Promise<unknown> = (sql) => books.dataSource.query(sql)) {
  const sent: Promise<unknown>[] = [];
  const send = (sql: string) => {
    const answer = query(sql);
    sent.push(answer);
    return answer;
  };
  return { sent, vacuum: new Vacuum({ query: send } as DataSource, "tasks") };
}

async function vacuums(): Promise<number> {
  const sql = "SELECT vacuum_count::int AS count FROM pg_stat_user_tables WHERE relname = 'tasks'";
  const [row] = await books.dataSource.query<{ count: number }[]>(sql);
  return row?.count ?? 0;
}

it("Once so many rows were changed what is dead of them is removed, once for all that come within seconds", async () => {
  const { sent, vacuum } = watched();
  const before = await vacuums();
  vacuum.changed(ENOUGH - 1);
  expect(sent).toHaveLength(0);
  for (let i = 0; i < 10; i += 1) vacuum.changed(ENOUGH);
  expect(sent).toHaveLength(1);
  await Promise.all(sent);
  await eventually(async () => (await vacuums()) === before + 1);
  vacuum.changed(ENOUGH);
  expect(sent, "less than five seconds after the one before").toHaveLength(1);
});

it("Where somebody else has locked the table it is left to the next time, and nobody waits", async () => {
  const other = new pg.Client({ connectionString: books.databaseUrl });
  await other.connect();
  await other.query("BEGIN");
  await other.query("LOCK TABLE tasks IN SHARE UPDATE EXCLUSIVE MODE");
  const before = await vacuums();
  const { sent, vacuum } = watched();
  vacuum.changed(ENOUGH);
  await Promise.all(sent);
  await other.end();
  expect(sent).toHaveLength(1);
  expect(await vacuums()).toBe(before);
});

it("Where the database is away it goes on: that is no trouble of whoever changes rows", async () => {
  const { sent, vacuum } = watched(() => Promise.reject(new Error("away")));
  vacuum.changed(ENOUGH);
  await expect(sent[0]).rejects.toThrow("away");
});

it("Where its role may not, as the table is another's, it is refused with a notice, and that is all", async () => {
  const role = `may_not_vacuum_${process.pid}`;
  await books.dataSource.query(`CREATE ROLE ${role}; GRANT SELECT, INSERT, UPDATE, DELETE ON tasks TO ${role}`);
  const other = new pg.Client({ connectionString: books.databaseUrl });
  await other.connect();
  const notices: string[] = [];
  other.on("notice", ({ message }) => notices.push(message ?? ""));
  try {
    await other.query(`SET SESSION AUTHORIZATION ${role}`);
    const before = await vacuums();
    const { sent, vacuum } = watched((sql) => other.query(sql));
    vacuum.changed(ENOUGH);
    await Promise.all(sent);
    expect(notices.join()).toMatch(/permission denied to vacuum "tasks"|only table or database owner can vacuum/);
    expect(await vacuums()).toBe(before);
  } finally {
    await other.end();
    await books.dataSource.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});
