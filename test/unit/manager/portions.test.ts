import { describe, expect, it } from "vitest";
import { Portions } from "../../../services/observer-manager/src/adapters/amqp/deliveries/portions.ts";

const thousands = (count: number): number[] => Array.from({ length: count }, () => 1_000);

describe("what one transaction takes", () => {
  it("is all that waits, up to ten thousand events, and one message at least", () => {
    const portions = new Portions();
    expect(portions.lengthOf([])).toBe(0);
    expect(portions.lengthOf([1, 0, 7])).toBe(3);
    expect(portions.lengthOf(thousands(500))).toBe(10);
    expect(portions.lengthOf([20_000, 1])).toBe(1);
  });

  it("is half of what failed, again and again, and one message in the end", () => {
    const portions = new Portions();
    const lengths = Array.from({ length: 6 }, () => {
      const length = portions.lengthOf(thousands(500));
      portions.failed(length * 1_000);
      return length;
    });
    expect(lengths).toEqual([10, 5, 2, 1, 1, 1]);
  });

  it("is half of what was tried, also where that was less than might have been", () => {
    const portions = new Portions();
    portions.failed(600);
    expect(portions.lengthOf([100, 100, 100, 100, 100, 100])).toBe(3);
  });

  it("doubles with each that succeeds, up to all of it", () => {
    const portions = new Portions();
    portions.failed(2_000);
    const lengths = Array.from({ length: 5 }, () => {
      const length = portions.lengthOf(thousands(500));
      portions.succeeded();
      return length;
    });
    expect(lengths).toEqual([1, 2, 4, 8, 10]);
  });
});
