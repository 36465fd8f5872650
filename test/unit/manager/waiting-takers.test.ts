import type { TakeTasks } from "@unacked/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  WaitingTakers,
  type WaitingTakersParts,
} from "../../../services/observer-manager/src/operations/tasks/takes/waiting-takers.ts";
import { keptLog } from "../../support/servers/books.ts";

interface Ready {
  pool: string;
  type: string;
}
type Tried = Pick<TakeTasks, "pool" | "types">;

/** Books in which so many tasks of each type are Ready; who waits says so by his lease. */
function begin(ready: Record<string, number> = {}) {
  const tried: (Tried & { by: number })[] = [];
  const looks: Ready[][] = [];
  let meanwhile: () => void = () => undefined;
  const store = {
    async waiting(kinds: Ready[]) {
      looks.push(kinds);
      return kinds.filter(({ type }) => (ready[type] ?? 0) > 0);
    },
    async take({ pool, types, leaseMs }: TakeTasks) {
      tried.push({ pool, types, by: leaseMs });
      meanwhile();
      const type = types.find((one) => (ready[one] ?? 0) > 0);
      if (type === undefined) return { tasks: [], nextRoomInMs: null, hasPassed: false, over: [] };
      ready[type] = (ready[type] ?? 0) - 1;
      return { tasks: [{ id: `${type} to ${leaseMs}`, type }], nextRoomInMs: null, hasPassed: false, over: [] };
    },
    giveBack: vi.fn(async (tasks: { id: string }[]) => tasks.map(({ id }) => id)), // somebody has cancelled them
  };
  const queue = { promoteDue: async () => ({ promoted: 0, nextDueInMs: null }) };
  const over: string[] = [];
  const parts = { store, queue, promoted: () => undefined, over: (ids: string[]) => over.push(...ids), log: keptLog() };
  const takers = new WaitingTakers(parts as unknown as WaitingTakersParts);
  onTestFinished(() => takers.close());
  const answers: Record<number, string[]> = {};
  const wait = (by: number, types: string[], { pool = "default", signal = new AbortController().signal } = {}) => {
    const asked = { pool, types, count: 1, leaseMs: by, wait: 20_000 };
    void takers.wait(asked, {} as never, signal).then((tasks) => (answers[by] = tasks.map(({ id }) => id)));
  };
  return { takers, store, ready, tried, looks, over, answers, wait, onTry: (then: () => void) => (meanwhile = then) };
}

test("Ten thousand who wait for a hundred types each are looked at no more, neither by a look nor by a create", async () => {
  const { takers, looks, ready } = begin();
  let reads = 0;
  const types = Array.from({ length: 100 }, (_, index) => `t${index}`);
  for (let i = 0; i < 10_000; i += 1) {
    const asked = { pool: "default", count: 1, leaseMs: i, wait: 20_000 } as TakeTasks;
    Object.defineProperty(asked, "types", { enumerable: true, get: () => ((reads += 1), types) });
    void takers.wait(asked, {} as never, new AbortController().signal);
  }
  reads = 0;
  takers.start();
  await vi.waitFor(() => expect(looks.length).toBeGreaterThan(0));
  expect(looks[0]).toHaveLength(100);
  expect(takers.isWaitedFor("default", new Set(["other", "t99"]))).toBe(true);
  expect(takers.isWaitedFor("default", new Set(["other"]))).toBe(false);
  expect(takers.isWaitedFor("elsewhere", new Set(types))).toBe(false);
  expect(reads).toBe(0);
  ready["t7"] = 2;
  takers.wake();
  await vi.waitFor(() => expect(ready["t7"]).toBe(0));
  expect(reads).toBeLessThan(20); // of the two that were given one, and the one for whom none was left
});

test("Turns go in the order in which they came, whatever each waits for, and nobody is tried for what was not there for one before him", async () => {
  const { takers, tried, answers, wait } = begin({ a: 1, b: 2 });
  wait(1, ["c"]);
  wait(2, ["b", "a"]);
  wait(3, ["a", "c"]);
  wait(4, ["b"], { pool: "other" });
  wait(5, ["c", "b", "a"]);
  wait(6, ["a"]);
  wait(7, ["b"]);
  takers.start();
  await vi.waitFor(() => expect(Object.keys(answers)).toHaveLength(3));
  expect(tried.slice(0, 4)).toEqual([
    { by: 2, pool: "default", types: ["b", "a"] },
    { by: 3, pool: "default", types: ["a"] },
    { by: 4, pool: "other", types: ["b"] },
    { by: 5, pool: "default", types: ["b", "a"] },
  ]);
  expect(answers).toEqual({ 2: ["b to 2"], 3: ["a to 3"], 4: ["b to 4"] });
  await vi.waitFor(() => expect(takers.isWaitedFor("other", new Set(["b"]))).toBe(false));
  expect(takers.isWaitedFor("default", new Set(["b"]))).toBe(true);
  expect(tried.filter(({ by }) => by >= 6)).toEqual([]); // as there was neither for 5
});

test("Who leaves while others are tried has no turn, and what was claimed for one who left is given back", async () => {
  const { takers, store, tried, over, answers, wait, onTry } = begin({ a: 9 });
  const leaving = new AbortController();
  const signal = leaving.signal;
  wait(1, ["a"], { signal });
  wait(2, ["a"], { signal });
  wait(3, ["a", "a"]);
  onTry(() => leaving.abort());
  takers.start();
  await vi.waitFor(() => expect(answers[3]).toEqual(["a to 3"]));
  expect(tried.map(({ by }) => by)).toEqual([1, 3]);
  expect(answers).toEqual({ 1: [], 2: [], 3: ["a to 3"] });
  expect(store.giveBack).toHaveBeenCalledTimes(1);
  expect(over).toEqual(["a to 1"]);
  expect(takers.isWaitedFor("default", new Set(["a"]))).toBe(false);
});

test("Who comes in the middle of a round has a turn in the next, after a look of its own", async () => {
  const { takers, looks, answers, wait, onTry } = begin({ a: 9 });
  wait(1, ["a"]);
  let looksBefore = 0;
  onTry(() => {
    onTry(() => undefined);
    looksBefore = looks.length;
    wait(2, ["a"]);
  });
  takers.start();
  await vi.waitFor(() => expect(answers[2]).toEqual(["a to 2"]));
  expect(looks.length).toBeGreaterThan(looksBefore);
});

test("Who brings more types than 20,000 that are waited for waits for nothing, and whoever waits for those that are there does", async () => {
  const { takers, answers, wait, ready } = begin();
  const typesOf = (index: number) => Array.from({ length: 100 }, (_, place) => `t${index}-${place}`);
  for (let i = 0; i < 200; i += 1) wait(i, typesOf(i));
  wait(200, ["one more"]);
  wait(201, ["t0-0", "t199-99", "t0-0"]);
  await vi.waitFor(() => expect(answers).toEqual({ 200: [] }));
  expect(takers.isWaitedFor("default", new Set(["one more"]))).toBe(false);
  ready["t0-1"] = 1; // whom this is given leaves, and with him all his types but the one that another waits for
  takers.start();
  await vi.waitFor(() => expect(answers[0]).toEqual(["t0-1 to 0"]));
  wait(202, typesOf(300).slice(1));
  wait(203, ["one more"]);
  await vi.waitFor(() => expect(answers[203]).toEqual([]));
  expect(answers[202]).toBeUndefined();
});
