import type { ObserverStatus } from "@unacked/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { DeletedObservers } from "../../../services/status-page/src/live/deleted-observers.ts";
import type { ObserverRow } from "../../../services/status-page/src/store/observer-row.ts";

// Before the page's modules are loaded, whose client is for where their page came from.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1:8080/")));

/** The manager's list of the deleted ones, as it is when it is asked; null: it is away. */
function managerWith(list: { names: string[] | null }): void {
  vi.stubGlobal("fetch", async () => {
    if (list.names === null) throw new TypeError("fetch failed");
    return Response.json(page(list.names, "Deleted"));
  });
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
}

function page(names: string[], status: ObserverStatus) {
  const each = <T>(value: T): T[] => names.map(() => value);
  const columns = {
    id: names,
    name: names,
    type: each("ticker"),
    pool: each("default"),
    labels: each({}),
    status: each(status),
    pending: each(null),
    silentSince: each(null),
    service: each(null),
    runNumber: each(1),
    restartsLately: each(0),
    attempts: each(1),
    lastError: each(null),
    createdAt: each("2026-01-01T00:00:00.000Z"),
    modifiedAt: each("2026-01-01T00:00:00.000Z"),
  };
  return { columns, services: [], total: names.length, nextCursor: null };
}

const aWhile = () => vi.advanceTimersByTimeAsync(3_000);

function wanted() {
  const taken: string[][] = [];
  const take = (rows: ObserverRow[]) => void taken.push(rows.map(({ name }) => name));
  const deleted = new DeletedObservers({ begin: () => undefined, take });
  deleted.want();
  return { deleted, taken };
}

test("The deleted ones are asked for until they have been read, and are not said to be none before", async () => {
  const list: { names: string[] | null } = { names: null };
  managerWith(list);
  const { deleted, taken } = wanted();
  await aWhile();
  expect([deleted.phase, taken]).toEqual(["reading", []]);
  list.names = ["gone"];
  await aWhile();
  expect([deleted.phase, taken]).toEqual(["read", [["gone"]]]);
});

test("They are read again where some may have been deleted unheard, but not before somebody wants them", async () => {
  const list = { names: ["a"] };
  managerWith(list);
  const unwanted = new DeletedObservers({ begin: () => undefined, take: () => expect.fail("nobody wants them") });
  unwanted.reload();
  const { deleted, taken } = wanted();
  await aWhile();
  list.names = ["b", "a"];
  deleted.reload();
  await aWhile();
  expect(taken).toEqual([["a"], ["b", "a"]]);
});
