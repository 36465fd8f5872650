import { expect, test } from "vitest";
import { BalanceDesk } from "../../../services/observer-manager/src/operations/balance/balance-desk.ts";
import type {
  BalanceStore,
  PoolService,
  RebalanceRow,
} from "../../../services/observer-manager/src/operations/balance/balance-store.ts";
import { SOMEBODY } from "../../support/servers/books.ts";

const service = (name: string, type: string, running: number): PoolService => ({
  id: name,
  name,
  generation: 1,
  workers: 40,
  runs: new Map([[type, running]]),
  knows: new Set([type]),
  isOpen: true,
  restsFor: null,
  canMove: true,
  standing: "Alive none",
});

const underWay: RebalanceRow = {
  id: "0197d5c0-0000-7000-8000-0000000000b1",
  pool: "default",
  by: "ana",
  why: "alpha runs 16, and its share is 8",
  begunAt: "2026-01-01T00:00:00.000Z",
  planned: 8,
  moved: 5,
  waits: null,
  waitsForMs: 0,
  endedAgoMs: 0,
  endedAt: null,
  outcome: null,
};

const NOBODY: ReadonlyMap<string, number> = new Map();

function desk({ services = [] as PoolService[], last = undefined as RebalanceRow | undefined, mayMove = true }) {
  const store: Pick<BalanceStore, "standings" | "lastOf"> = {
    standings: () => Promise.resolve(new Map([["default", { services, awaiting: NOBODY }]])),
    lastOf: () => Promise.resolve(last),
  };
  const parts = { isAuto: false, isReady: () => true, mayMove: () => mayMove, begun: () => {}, committed: () => {} };
  return new BalanceDesk({ ...parts, store: store as BalanceStore });
}

test("A pool that no move can make even says so, and why", async () => {
  const services = [service("alpha", "binance", 16), service("beta", "kraken", 0)];
  expect(await desk({ services }).getBalance("default")).toMatchObject({
    moves: 0,
    uneven: "alpha runs 16, and its share is 8",
    waits: "those with room do not know the types of what could move",
  });
});

test("A pool that is even only without a service that is not heard of says so", async () => {
  const suspect = { ...service("alpha", "binance", 16), isOpen: false, restsFor: "is not heard of" };
  const services = [suspect, service("beta", "binance", 0)];
  const says = {
    moves: 0,
    uneven: "alpha runs 16, and its share is 8",
    waits: "alpha is not heard of; with it the pool is not even",
  };
  expect(await desk({ services }).getBalance("default")).toMatchObject(says);
  expect(await desk({ services }).rebalance("default", { dryRun: false }, SOMEBODY)).toMatchObject({
    begun: false,
    balance: says,
  });
});

test("A rebalance that stands still, as a manager of an older version runs, says so", async () => {
  const services = [service("alpha", "binance", 11), service("beta", "binance", 5)];
  const waitsOf = async (parts: Parameters<typeof desk>[0]) => {
    const answer = await desk({ services, ...parts }).getBalance("default");
    return "kind" in answer ? answer : answer.rebalance?.waits;
  };
  expect(await waitsOf({ last: underWay, mayMove: false })).toMatch(/^not all managers are known to know what a move is/);
  expect(await waitsOf({ last: underWay })).toBeNull();
  const ended = { ...underWay, endedAt: "2026-01-01T00:01:00.000Z", outcome: "even" as const };
  expect(await waitsOf({ last: ended, mayMove: false })).toBeNull();
});
