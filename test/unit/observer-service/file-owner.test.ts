import { beforeEach, expect, it, vi } from "vitest";
import { FileOwner } from "../../../services/observer-service/src/slot/file-owner.ts";
import { fakeIntervals } from "../../support/own-timers.ts";

let told: string[];
let owner: FileOwner;

beforeEach(() => {
  fakeIntervals();
  told = [];
  owner = new FileOwner("/types/loose.ts", (file, { message }, times) => told.push(`${file} ${message} ${times}`));
});

it("a file's error is told with its name at once, those that follow once a second, with their number", () => {
  for (let i = 1; i <= 1_000; i += 1) owner.uncaught(new Error(`no ${i}`));
  expect(told).toEqual(["/types/loose.ts no 1 1"]);
  vi.advanceTimersByTime(1_000);
  expect(told.slice(1)).toEqual(["/types/loose.ts no 1000 999"]);
  vi.advanceTimersByTime(10_000);
  expect(told).toHaveLength(2);
  owner.uncaught(new Error("again"));
  expect(told[2]).toBe("/types/loose.ts again 1");
});

it("what was refused to it and is thrown on is told once", () => {
  const refused = new Error("process.exit(0) would end …");
  owner.uncaught(refused);
  owner.uncaught(refused);
  vi.advanceTimersByTime(5_000);
  expect(told).toHaveLength(1);
});

it("those that follow are told, whatever stands in the place of the timers of all when the first comes", () => {
  const { setInterval } = globalThis;
  Object.assign(globalThis, { setInterval: () => expect.unreachable() });
  try {
    owner.uncaught(new Error("first"));
  } finally {
    Object.assign(globalThis, { setInterval });
  }
  owner.uncaught(new Error("second"));
  vi.advanceTimersByTime(1_000);
  expect(told).toEqual(["/types/loose.ts first 1", "/types/loose.ts second 1"]);
});
