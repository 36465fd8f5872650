import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FileOwner } from "../../../services/observer-service/src/slot/file-owner.ts";

let told: string[];
let owner: FileOwner;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  owner = new FileOwner("/types/loose.ts", (file, { message }, times) => told.push(`${file} ${message} ${times}`));
});
afterEach(() => vi.useRealTimers());

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
