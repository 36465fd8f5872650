import { describe, expect, test } from "vitest";
import { addHistograms, percentileOf } from "../../../services/observer-manager/src/domain/tasks/running-times.ts";

/** As PostgreSQL does it, which test/integration/task-figures.test.ts holds it to. */
const bucketOf = (ms: number): number => Math.min(120, Math.floor(1 + 4 * Math.log2(ms)));
const histogramOf = (times: number[]) => addHistograms(times.map((ms) => ({ [bucketOf(ms)]: 1 })));

/** The same numbers each time. */
function* chances(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

describe("running times in buckets", () => {
  test("what is told of them is at most 19 per cent off, whatever their shape", () => {
    const shapes: ((chance: number) => number)[] = [
      (chance) => 1 + chance * 10_000,
      (chance) => -1_000 * Math.log(1 - chance),
      (chance) => (chance < 0.94 ? 20 : 30_000),
      (chance) => 2 ** (chance * 25),
      () => 1_500,
    ];
    let worst = 0;
    for (const [seed, shape] of shapes.entries()) {
      const chance = chances(seed + 1);
      const times = Array.from({ length: 5_000 }, () => Math.max(1, shape(chance.next().value as number)));
      const sorted = times.toSorted((a, b) => a - b);
      for (const share of [0.5, 0.95, 0.99]) {
        const told = percentileOf(histogramOf(times), share) ?? 0;
        const truth = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
        worst = Math.max(worst, Math.abs(told - truth) / truth);
      }
    }
    console.log(`the worst of 15 was ${(worst * 100).toFixed(1)} % off`);
    expect(worst).toBeLessThan(0.19);
  });

  test("of none there is nothing to tell, and of what runs below a millisecond that", () => {
    expect(percentileOf({}, 0.95)).toBeNull();
    expect(percentileOf({ 0: 20 }, 0.95)).toBeCloseTo(0.95);
  });
});
