import { expect, test } from "vitest";
import { inSlices } from "../../../services/observer-manager/src/operations/in-slices.ts";
import { turnsUntil } from "../../support/time/loop-turns.ts";

/** Each takes 2 ms of the loop to be found. */
function* slowly(count: number): Generator<number> {
  for (let found = 0; found < count; found += 1) {
    const untilMs = performance.now() + 2;
    while (performance.now() < untilMs);
    yield found;
  }
}

test("What takes long lets everybody else go on meanwhile, and so do many together", async () => {
  expect(await turnsUntil(inSlices(slowly(100)))).toBeGreaterThan(10);
  expect(await turnsUntil(Promise.all([inSlices(slowly(50)), inSlices(slowly(50))]))).toBeGreaterThan(10);
});

test("No more is looked for than was asked for, and one that fails stands in nobody's way", async () => {
  expect(await inSlices(slowly(Number.POSITIVE_INFINITY), 3)).toEqual([0, 1, 2]);
  const failing = inSlices(
    (function* () {
      yield 1;
      throw new Error("unreadable");
    })(),
  );
  const next = inSlices([1, 2]);
  await expect(failing).rejects.toThrow("unreadable");
  expect(await next).toEqual([1, 2]);
});
