import { expect, test } from "vitest";
import { createMoveDetector } from "../../observers/price-watch/move-detector.ts";

function movesOf(movePercent: number, prices: readonly string[]) {
  const detector = createMoveDetector(movePercent);
  return prices.flatMap((price, index) => {
    const reading = detector.read({ product: "X", price, sequence: index, tradeId: index });
    return reading.kind === "tick" && reading.move ? [reading.move] : [];
  });
}

test("the first tick is the reference and no move", () => {
  expect(movesOf(1, ["100"])).toEqual([]);
});

test("a move is measured from the last emitted price, not from the last tick", () => {
  expect(movesOf(1, ["100", "100.6", "101.2", "100.6", "100.1"])).toEqual([
    { price: "101.2", reference: "100", direction: "up", changePercent: 1.2 },
    { price: "100.1", reference: "101.2", direction: "down", changePercent: -1.086957 },
  ]);
});

test("exactly the percentage is a move, without binary rounding", () => {
  // In binary fractions 100 × (1.1 − 1) / 1 is 10.000000000000009 and 100 × (0.3 − 0.1) / 0.1 is 199.99999999999997.
  expect(movesOf(200, ["0.1", "0.3"])).toHaveLength(1);
  expect(movesOf(10, ["1", "1.1"])).toHaveLength(1);
  expect(movesOf(10.000_001, ["1", "1.1"])).toHaveLength(0);
  expect(movesOf(0.000_001, ["100000000", "100000001"])).toHaveLength(1);
});

test("a message without a trade is no tick: neither counted nor a reference", () => {
  const detector = createMoveDetector(1);
  expect(detector.read({ product: "X", price: "50", sequence: 1 })).toEqual({ kind: "not-a-tick" });
  expect(detector.read({ product: "X", price: "100", sequence: 2, tradeId: 1 })).toEqual({ kind: "tick", ticks: 1 });
});

test("after a reconnect the price that was seen before is no tick, but a new one is", () => {
  const detector = createMoveDetector(1);
  const seen = { product: "X", price: "100", sequence: 7, tradeId: 1 };
  detector.read(seen);
  detector.reconnected();
  expect(detector.read({ product: "X", price: "100", sequence: 7 })).toEqual({ kind: "not-a-tick" });
  expect(detector.read(seen)).toEqual({ kind: "not-a-tick" });
  detector.reconnected();
  expect(detector.read({ ...seen, sequence: 9, price: "102" })).toMatchObject({
    ticks: 2,
    move: { reference: "100", price: "102" },
  });
});

test("a replay that begins again on the same connection is counted again", () => {
  const detector = createMoveDetector(1);
  const only = { product: "X", price: "100", sequence: 7, tradeId: 1 };
  detector.read(only);
  expect(detector.read(only)).toEqual({ kind: "tick", ticks: 2 });
});
