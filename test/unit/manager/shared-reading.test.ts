import { expect, test } from "vitest";
import { SharedReading } from "../../../services/observer-manager/src/operations/shared-reading.ts";

/** Readings that end when they are told to. */
function newReadings(everyMs: number) {
  const begun: { atMs: number; end: (value: string) => void; fail: (error: Error) => void }[] = [];
  const shared = new SharedReading(
    () => new Promise<string>((end, fail) => begun.push({ atMs: performance.now(), end, fail })),
    everyMs,
  );
  return { begun, shared };
}

test("ten that ask at once are given one reading", async () => {
  let readings = 0;
  const shared = new SharedReading(() => Promise.resolve((readings += 1)), 1);
  expect(await Promise.all(Array.from({ length: 10 }, () => shared.get()))).toEqual(Array.from({ length: 10 }, () => 1));
  expect(await shared.get()).toBe(2);
});

test("who asks while one is under way is given the next: what they changed may have come too late for the first", async () => {
  const everyMs = 20;
  const { begun, shared } = newReadings(everyMs);
  const first = shared.get();
  await expect.poll(() => begun.length).toBe(1);
  const others = [shared.get(), shared.get()];
  await expect.poll(() => begun.length).toBe(2); // though the first has not ended
  expect((begun[1]?.atMs ?? 0) - (begun[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(everyMs - 1);
  begun[1]?.end("new");
  expect(await Promise.all(others)).toEqual(["new", "new"]);
  begun[0]?.end("old");
  expect(await first).toBe("old");
});

test("one that fails fails for those who share it, and for nobody after them", async () => {
  const { begun, shared } = newReadings(1);
  const both = Promise.allSettled([shared.get(), shared.get()]);
  await expect.poll(() => begun.length).toBe(1);
  begun[0]?.fail(new Error("gone"));
  expect((await both).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const after = shared.get();
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.end("there");
  expect(await after).toBe("there");
});
