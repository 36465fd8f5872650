import { afterEach, expect, test, vi } from "vitest";
import type { Log } from "../../../services/observer-manager/src/operations/log.ts";
import { TaskRetention } from "../../../services/observer-manager/src/operations/tasks/upkeep/task-retention.ts";

afterEach(() => vi.useRealTimers());

test("a day that is missing, as the clock has gone on by more than a week, is made within a minute; what is old goes each hour", async () => {
  vi.useFakeTimers();
  const did: string[] = [];
  const note = (what: string, count: unknown) => async () => {
    did.push(what);
    return count as never;
  };
  const retention = new TaskRetention({
    days: { makeAhead: note("make", undefined), dropOlderThan: note("drop", []) },
    requests: { forget: note("forget", 0) },
    figures: { forgetOld: note("forget", 0) },
    services: { forgetGone: note("forget", 0) },
    retentionMs: 604_800_000,
    log: {} as Log,
  });
  retention.start();
  const count = (what: string) => did.filter((one) => one === what).length;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([count("make"), count("drop")]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([count("make"), count("drop")]).toEqual([2, 1]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect([count("make"), count("drop")]).toEqual([62, 2]);
  void retention.stop();
});
