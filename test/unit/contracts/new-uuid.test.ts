import { newObserverId } from "@unacked/contracts";
import { expect, test, vi } from "vitest";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("ids are UUIDv7, and each is greater than the one before, also thousands within a millisecond", () => {
  const ids = Array.from({ length: 20_000 }, newObserverId);
  expect(ids.every((id) => UUID_V7.test(id))).toBe(true);
  expect(ids).toEqual([...new Set(ids)].sort());
});

test("ids still grow when the clock is set back", () => {
  const before = newObserverId();
  vi.useFakeTimers({ now: Date.now() - 3_600_000 });
  const after = newObserverId();
  vi.useRealTimers();
  expect(after > before).toBe(true);
});

test("what is random in an id differs from that of its neighbours", () => {
  const tails = Array.from({ length: 1_000 }, () => newObserverId().slice(-11));
  expect(new Set(tails).size).toBe(1_000);
});
