import { afterEach, expect, test, vi } from "vitest";
import type {
  BalanceStore,
  PoolService,
  RebalanceRow,
} from "../../../services/observer-manager/src/operations/balance/balance-store.ts";
import { Balancer } from "../../../services/observer-manager/src/operations/balance/balancer.ts";
import type { Log } from "../../../services/observer-manager/src/operations/log.ts";

afterEach(() => vi.useRealTimers());

const HOUR_MS = 3_600_000;
/** By PostgreSQL's clock. */
const CANCELLED_AT_MS = Date.parse("2026-01-01T00:00:00Z");

const cancelled: RebalanceRow = {
  id: "0197d5c0-0000-7000-8000-0000000000b1",
  pool: "default",
  by: "auto",
  why: "uneven",
  begunAt: "2025-12-31T23:59:00.000Z",
  planned: 30,
  moved: 0,
  waits: null,
  endedAt: new Date(CANCELLED_AT_MS).toISOString(),
  outcome: "cancelled",
  waitsForMs: 0,
  endedAgoMs: 0,
};

const service = (id: string, running: number): PoolService => ({
  id,
  name: id,
  generation: 1,
  workers: 100,
  runs: new Map([["ticker", running]]),
  knows: new Set(["ticker"]),
  isOpen: true,
  restsFor: null,
  canMove: true,
  standing: "Alive none",
});

test.each([
  ["right", 0],
  ["five hours ahead", 5 * HOUR_MS],
  ["five hours behind", -5 * HOUR_MS],
])(
  "after a rebalance that somebody has cancelled the next begins ten minutes later, where the manager's clock is %s",
  async (_, wrongMs) => {
    vi.useFakeTimers({ now: CANCELLED_AT_MS + wrongMs });
    const beganMs = performance.now();
    const endedAgoMs = () => performance.now() - beganMs;
    const begunMs: number[] = [];
    const store = {
      isAnyDue: async () => false,
      standings: async () =>
        new Map([["default", { services: [service("full", 60), service("empty", 0)], awaiting: new Map() }]]),
      lastOf: async () => ({ ...cancelled, endedAgoMs: endedAgoMs() }),
      begin: async () => {
        begunMs.push(endedAgoMs());
        return cancelled;
      },
    } as unknown as BalanceStore;
    const log = { info: vi.fn(), warn: vi.fn() } as unknown as Log;
    const balancer = new Balancer({ store, isAuto: true, mayMove: () => true, committed: vi.fn(), log });
    balancer.start();
    await vi.advanceTimersByTimeAsync(615_000);
    await balancer.stop();
    expect(begunMs[0]).toBeGreaterThanOrEqual(600_000);
  },
);
