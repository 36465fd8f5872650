import { expect, test } from "vitest";
import { BalanceDesk } from "../../../services/observer-manager/src/operations/balance/balance-desk.ts";
import type { BalanceStore, PoolService } from "../../../services/observer-manager/src/operations/balance/balance-store.ts";

const service = (name: string, type: string, running: number): PoolService => ({
  id: name,
  name,
  generation: 1,
  workers: 40,
  runs: new Map([[type, running]]),
  knows: new Set([type]),
  isOpen: true,
  canMove: true,
  standing: "Alive none",
});

function desk({ services = [] as PoolService[] }) {
  const store: Pick<BalanceStore, "standings" | "lastOf"> = {
    standings: () => Promise.resolve(new Map([["default", { services, awaiting: 0 }]])),
    lastOf: () => Promise.resolve(undefined),
  };
  const parts = { isAuto: false, isReady: () => true, mayMove: () => true, begun: () => {}, committed: () => {} };
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
