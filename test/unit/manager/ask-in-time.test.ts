import { expect, test } from "vitest";
import { askInTime } from "../../../services/observer-manager/src/operations/pools/ask-in-time.ts";

const NOW = {
  depths: [],
  troubles: [],
  unwanted: [],
  broker: { brokerVersion: "4.3.6", queueType: "quorum" as const },
  isBlocked: false,
};

test("what the broker says of its queues is passed on, and so is that it is away", async () => {
  expect(await askInTime(async () => NOW)(["default"])).toBe(NOW);
  expect(await askInTime(async () => null)(["default"])).toBeNull();
  await expect(askInTime(() => Promise.reject(new Error("no")))([])).rejects.toThrow("no");
});

test("a broker that stands still cannot be asked, and nobody waits for it", async () => {
  expect(await askInTime(() => new Promise(() => undefined), 10)(["default"])).toBeNull();
});
