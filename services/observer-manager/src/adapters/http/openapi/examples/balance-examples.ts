import type { BalanceView, RebalanceView } from "@unacked/contracts";
import { SERVICE_ID } from "./observer-examples.ts";

export const REBALANCE = {
  id: "0197d5c0-0000-7000-8000-0000000000b1",
  by: "ana",
  why: "observer-service-1 runs 30, and its share is 20",
  begunAt: "2026-11-20T09:41:00.000Z",
  planned: 10,
  moved: 0,
  waits: null,
  endedAt: null,
  outcome: null,
} satisfies RebalanceView;

export const BALANCE = {
  pool: "default",
  services: [
    {
      id: SERVICE_ID,
      name: "observer-service-1",
      workers: 50,
      running: 30,
      share: 20,
      leaving: 10,
      types: { "http-poll": 30, ticker: 0 },
    },
    {
      id: "0197d5c0-0000-7000-8000-0000000000a2",
      name: "observer-service-2",
      workers: 50,
      running: 10,
      share: 20,
      leaving: 0,
      types: { "http-poll": 0, ticker: 10 },
    },
  ],
  moves: 10,
  uneven: REBALANCE.why,
  mode: "manual",
  waits: null,
  rebalance: null,
} satisfies BalanceView;

export const BALANCING = { ...BALANCE, rebalance: REBALANCE } satisfies BalanceView;

export const CANCELLED_BALANCE = {
  ...BALANCE,
  rebalance: { ...REBALANCE, endedAt: "2026-11-20T09:41:02.000Z", outcome: "cancelled" },
} satisfies BalanceView;
