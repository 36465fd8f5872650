import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TableSizes } from "../../../services/observer-manager/src/adapters/postgres/upkeep/table-sizes.ts";

let sizes: string | Error;
let looks: number;
let answer: Promise<void>;
let tableSizes: TableSizes;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  [sizes, looks, answer] = ["1 0", 0, Promise.resolve()];
  tableSizes = new TableSizes(async () => {
    looks += 1;
    await answer;
    if (sizes instanceof Error) throw sizes;
    return sizes;
  });
});
afterEach(() => void vi.useRealTimers());

/** Asked once, so many ms later; then all that it has begun is done. */
async function after(ms: number): Promise<number> {
  vi.advanceTimersByTime(ms);
  tableSizes.epochAt();
  await new Promise((resolve) => setImmediate(resolve));
  return tableSizes.epochAt();
}

test("plans are kept while tables are as large as they were; it looks four times a second at most", async () => {
  const epoch = await after(0);
  for (let i = 0; i < 10; i += 1) expect(await after(100)).toBe(epoch);
  expect(looks).toBe(4);
});

test("when one has doubled they are made anew, once", async () => {
  const epoch = await after(0);
  sizes = "1 1";
  expect(await after(249)).toBe(epoch);
  expect([await after(1), await after(250)]).toEqual([epoch + 1, epoch + 1]);
});

test("after five seconds they are made anew in any case", async () => {
  const epoch = await after(0);
  expect([await after(4_900), await after(100), await after(4_900)]).toEqual([epoch, epoch + 1, epoch + 1]);
});

test("while a look waits they are made anew four times a second", async () => {
  const epoch = await after(0);
  let arrives = () => {};
  answer = new Promise((resolve) => (arrives = resolve));
  expect([await after(250), await after(250), await after(250)]).toEqual([epoch, epoch + 1, epoch + 2]);
  arrives();
  expect([await after(0), await after(250), looks]).toEqual([epoch + 2, epoch + 2, 3]);
});

test("so they are where nobody can look, which is not tried again for five seconds", async () => {
  const epoch = await after(0);
  sizes = new Error("it is locked");
  expect([await after(250), await after(250), await after(250), looks]).toEqual([epoch + 1, epoch + 2, epoch + 3, 2]);
  sizes = "1 0";
  const before = await after(4_500);
  expect([await after(250), looks]).toEqual([before, 4]);
});
