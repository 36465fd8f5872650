import { expect, test } from "vitest";
import { PostgresBalanceStore } from "../../services/observer-manager/src/adapters/postgres/balance/postgres-balance-store.ts";
import { BalanceDesk } from "../../services/observer-manager/src/operations/balance/balance-desk.ts";
import { putObserver, putRunning, putService, SOMEBODY, useBooks } from "../support/servers/books.ts";
import { untilWait } from "../support/servers/lock-waits.ts";

/* A move for which the others have no worker is refused: it would be a stop for nothing. */

const books = useBooks("observers, runs, services, commands, observer_counts, moves");

const start = (workers: number, ...types: string[]) =>
  putService(books.dataSource, {
    worker_count: workers,
    types: types.map((type) => ({ type })),
    features: JSON.stringify(["balance"]),
  });

/** Of this type, on a service. @returns their names */
async function run(serviceId: string, type: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `${type}-${i}`);
  for (const name of names) await putRunning(books.dataSource, { name, type, current_service_id: serviceId });
  return names;
}

function openDesk() {
  const store = new PostgresBalanceStore(books.dataSource);
  const yes = () => true;
  const desk = new BalanceDesk({ store, isAuto: false, isReady: yes, mayMove: yes, begun: () => {}, committed: () => {} });
  /** What becomes of it. */
  return async (name: string): Promise<string> => {
    const answer = await desk.moveObserver({ kind: "name", name }, SOMEBODY);
    return answer.kind === "problem" ? answer.code : answer.kind;
  };
}

test("No more are moved than the others have workers free; one that was told to move is told again", async () => {
  const move = openDesk();
  const [a, b, c] = await run(await start(10, "ticker"), "ticker", 3);
  await start(2, "ticker");
  expect([await move(`${a}`), await move(`${b}`), await move(`${c}`), await move(`${b}`)]).toEqual([
    "accepted",
    "accepted",
    "nowhere-to-move",
    "accepted",
  ]);
});

test("A worker that is free is not for a move where somebody waits for it, of any type that could go there", async () => {
  const move = openDesk();
  const [a] = await run(await start(10, "ticker", "candles"), "ticker", 1);
  await start(1, "ticker", "process");
  await putObserver(books.dataSource, { type: "candles" });
  expect(await move(`${a}`)).toBe("accepted");
  await putObserver(books.dataSource, { type: "process" });
  expect(await move(`${a}`)).toBe("nowhere-to-move");
});

test("Two that ask at once for the last free worker do not both get it", async () => {
  const move = openDesk();
  const [a, b] = await run(await start(10, "ticker"), "ticker", 2);
  await start(1, "ticker");
  const other = books.dataSource.createQueryRunner();
  await other.startTransaction();
  try {
    await other.query("LOCK TABLE moves IN SHARE MODE"); // who has chosen waits here with what it writes
    const answers = Promise.all([move(`${a}`), move(`${b}`)]);
    answers.catch(() => undefined); // awaited below
    await untilWait(books.dataSource, 2);
    await other.commitTransaction();
    expect((await answers).toSorted()).toEqual(["accepted", "nowhere-to-move"]);
  } finally {
    if (other.isTransactionActive) await other.rollbackTransaction();
    await other.release();
  }
});
