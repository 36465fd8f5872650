import { randomUUID } from "node:crypto";
import type { DataSource, EntityManager } from "typeorm";
import { beforeEach, describe, expect, test } from "vitest";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { sqlStateOf } from "../../services/observer-manager/src/adapters/postgres/connection/database-error.ts";
import { transact } from "../../services/observer-manager/src/adapters/postgres/connection/transaction.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { RefusedByDatabase } from "../../services/observer-manager/src/operations/books/books-store.ts";
import { SOMEBODY, useBooks } from "../support/servers/books.ts";

const books = useBooks();
const query = (sql: string, values?: unknown[]) => books.dataSource.query(sql, values);

beforeEach(async () => {
  await query("DROP TABLE IF EXISTS drawer");
  await query("CREATE TABLE drawer (id int PRIMARY KEY)");
});

const put = (tx: EntityManager, id: number) => tx.query("INSERT INTO drawer VALUES ($1)", [id]);
const drawer = async () => (await query("SELECT id FROM drawer ORDER BY id")).map(({ id }: { id: number }) => id);
const stateOf = (outcome: Promise<unknown>) => outcome.then(() => "committed", sqlStateOf);

/** What is sent on its connections, each with those that left in the same turn. */
function turnsOf(dataSource: DataSource): { recorded: DataSource; turns: string[][] } {
  const turns: string[][] = [];
  let isOpen = false;
  const recorded = Object.create(dataSource) as DataSource;
  recorded.createQueryRunner = () => {
    const runner = dataSource.createQueryRunner();
    const ask = runner.query.bind(runner);
    runner.query = ((sql: string, values?: unknown[]) => {
      if (!isOpen) turns.push([]);
      isOpen = true;
      process.nextTick(() => (isOpen = false));
      turns.at(-1)?.push(sql.split(" ")[0] ?? "");
      return ask(sql, values);
    }) as typeof runner.query;
    return runner;
  };
  return { recorded, turns };
}

describe("a transaction", () => {
  test("waits once: its start leaves with what is asked first, its commit right behind what nobody waits for", async () => {
    const { recorded, turns } = turnsOf(books.dataSource);
    const found = await transact(recorded, async (tx, unawaited) => {
      const [row] = await tx.query("SELECT count(*)::int AS count FROM drawer");
      unawaited.add(put(tx, 1));
      unawaited.add(put(tx, 2));
      return row.count;
    });
    expect(turns).toEqual([["START", "SELECT"], ["INSERT", "INSERT"], ["COMMIT"]]);
    expect([found, await drawer()]).toEqual([0, [1, 2]]);
  });

  test("is undone as a whole where one is refused that nobody waits for, and says which", async () => {
    const outcome = transact(books.dataSource, async (tx, unawaited) => {
      unawaited.add(put(tx, 1));
      unawaited.add(put(tx, 1));
      unawaited.add(tx.query("SELECT 1/0"));
    });
    expect([await stateOf(outcome), await drawer()]).toEqual(["23505", []]);
  });

  test("does not commit where our own code failed between two writes", async () => {
    const failing = async (tx: EntityManager) => {
      void put(tx, 1);
      throw new TypeError("a fault of our own");
    };
    const outcome = transact(books.dataSource, async (tx, unawaited) => unawaited.add(failing(tx)));
    await expect(outcome).rejects.toThrow("a fault of our own");
    const tooLong = transact(books.dataSource, async (tx, unawaited) => {
      unawaited.add(put(tx, 2));
      unawaited.add(tx.query("SELECT $1::text[]", [Array.from({ length: 9 }, () => "x".repeat(2 ** 26))]));
    });
    await expect(tooLong).rejects.toThrow("Invalid string length");
    expect(await drawer()).toEqual([]);
  });

  test("tells of a refusal that only the next question meets by its cause", async () => {
    const outcome = transact(books.dataSource, async (tx, unawaited) => {
      await put(tx, 1);
      unawaited.add(put(tx, 1));
      await tx.query("SELECT 1");
    });
    expect([await stateOf(outcome), await drawer()]).toEqual(["23505", []]);
  });

  test("tells what its work throws, and undoes what nobody waited for", async () => {
    const outcome = transact(books.dataSource, async (tx, unawaited) => {
      unawaited.add(put(tx, 1));
      throw new Error("decided otherwise");
    });
    await expect(outcome).rejects.toThrow("decided otherwise");
    expect(await drawer()).toEqual([]);
  });

  test("whose connection breaks before the commit leaves nothing, and the next has another", async () => {
    const outcome = transact(books.dataSource, async (tx, unawaited) => {
      await put(tx, 1);
      const [{ pid }] = await tx.query("SELECT pg_backend_pid() AS pid");
      await query("SELECT pg_terminate_backend($1)", [pid]);
      unawaited.add(put(tx, 2));
    });
    await expect(outcome).rejects.toThrow();
    await transact(books.dataSource, (tx) => put(tx, 3));
    expect(await drawer()).toEqual([3]);
  });

  test("that cannot start gives its connection up: nothing is done outside of one but what left with the start", async () => {
    const refusing = Object.create(books.dataSource) as DataSource;
    const pids: number[] = [];
    refusing.createQueryRunner = () => {
      const runner = books.dataSource.createQueryRunner();
      const ask = runner.query.bind(runner);
      runner.query = ((sql: string, values?: unknown[]) =>
        ask(sql === "START TRANSACTION" ? "START NOTHING" : sql, values)) as typeof runner.query;
      return runner;
    };
    const outcome = transact(refusing, async (tx) => {
      const [{ pid }] = await tx.query("SELECT pg_backend_pid() AS pid");
      pids.push(pid);
      await put(tx, 1);
      await put(tx, 2);
    });
    expect([await stateOf(outcome), await drawer()]).toEqual(["42601", []]);
    const [{ pid }] = await query("SELECT pg_backend_pid() AS pid");
    expect(pids).not.toContain(pid);
  });
});

test("a refused write of a savepoint undoes that alone, though nobody waited for it", async () => {
  const store = new PostgresBooksStore(books.dataSource);
  const outcome = await store.inTransaction(async (tx) => {
    const actionOf = (id: string) => ({ action: { ...newAction("observer.stop", SOMEBODY), id }, count: 1, targets: [] });
    await tx.recordActions([actionOf(randomUUID())]);
    const refused = tx.savepoint(() => tx.recordActions([actionOf("no uuid")]));
    await expect(refused).rejects.toThrow(RefusedByDatabase);
    await tx.recordActions([actionOf(randomUUID())]);
    return "committed";
  });
  expect(outcome).toBe("committed");
  expect(await query("SELECT count(*)::int AS count FROM audit")).toEqual([{ count: 2 }]);
});
