import type { BalanceView } from "@unacked/contracts";
import { expect, test } from "vitest";
import { balanceText } from "../../../cli/src/output/balance-text.ts";

const view = (more: Partial<BalanceView>): BalanceView => ({
  pool: "default",
  services: [],
  moves: 0,
  uneven: null,
  mode: "manual",
  waits: null,
  rebalance: null,
  ...more,
});
const said = (more: Partial<BalanceView>) => balanceText(view(more), { dryRun: false }).split("\n").at(-2);

test("A pool is called even only where each runs about its share", () => {
  expect(said({})).toBe("pool default is even");
  const uneven = "alpha runs 16, and its share is 8";
  expect(said({ uneven, waits: "those with room do not know the types of what could move" })).toBe(
    "pool default is not even: alpha runs 16, and its share is 8 (those with room do not know the types of what could move)",
  );
  expect(balanceText(view({ uneven, moves: 8 }), { dryRun: true })).toContain(`8 moves make pool default even: ${uneven}`);
});
