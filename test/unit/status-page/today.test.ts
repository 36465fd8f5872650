import { expect, onTestFinished, test, vi } from "vitest";
import { followDays, today } from "../../../services/status-page/src/live/today.ts";

test("whoever shows a time of today is told when that is yesterday, once", () => {
  vi.useFakeTimers({ now: new Date(2026, 10, 29, 23, 50) });
  onTestFinished(() => void vi.useRealTimers());
  const told: string[] = [];
  const leave = followDays(() => told.push(today()));
  const leaveToo = followDays(() => told.push(today()));
  vi.advanceTimersByTime(9 * 60_000);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(120 * 60_000);
  expect(told).toEqual(["Mon Nov 30 2026", "Mon Nov 30 2026"]);
  leave();
  leaveToo();
  expect(vi.getTimerCount()).toBe(0);
});
