import type { Delivery } from "@unacked/broker";
import { DEFAULT_RETRY, newMessageId, newObserverId, type StartObserver } from "@unacked/contracts";
import { expect, test } from "vitest";
import { Intake } from "../../../services/observer-service/src/keeper/intake/intake.ts";
import { Tombstones } from "../../../services/observer-service/src/keeper/intake/tombstones.ts";
import { UnknownTypes } from "../../../services/observer-service/src/keeper/intake/unknown-types.ts";
import { type KeptLine, keptLog } from "../../support/logs/kept-log.ts";

test("of a type that is not here it is told at once, and then once a minute with how often since, each type for itself", () => {
  const types = new UnknownTypes();
  expect(types.note("gone", 0)).toBe(1);
  for (let ms = 3_000; ms < 60_000; ms += 3_000) expect(types.note("gone", ms)).toBeUndefined();
  expect(types.note("renamed", 59_999)).toBe(1);
  expect(types.note("gone", 60_000)).toBe(20);
  expect(types.note("gone", 60_001)).toBeUndefined();
  expect(types.note("renamed", 600_000)).toBe(1);
});

test("a hundred starts of a type that is gone are one line, which names it and an observer, and each of them is refused", () => {
  const lines: KeptLine[] = [];
  let refused = 0;
  const intake = new Intake({
    runner: { runs: { ofObserver: () => [] } } as never,
    ...{ knowsType: () => false, asksFirst: () => false, saves: () => false, holds: () => true },
    tombstones: new Tombstones(),
    events: { tell: () => void (refused += 1) },
    takenBack: () => expect.unreachable(),
    log: keptLog(lines),
    errors: { report: () => Promise.resolve() },
    closing: new AbortController().signal,
  });
  for (let n = 0; n < 100; n += 1) intake.take(startOf(`feed-${n}`));
  expect(refused).toBe(100);
  expect(lines).toMatchObject([
    { level: "warn", event: "start-refused", reason: "unknown-type", type: "renamed", observer: "feed-0", times: 1 },
  ]);
});

function startOf(name: string): Delivery {
  const ids = { observerId: newObserverId(), messageId: newMessageId(), revision: 1, name, type: "renamed" };
  const rest = { params: {}, labels: {}, retry: DEFAULT_RETRY, pool: "default", createdAt: new Date().toISOString() };
  const body = Buffer.from(JSON.stringify({ ...ids, ...rest } satisfies StartObserver));
  const delivery = { body, deliveryCount: 0, generation: 1, queue: "q", properties: { headers: {} }, settle: () => true };
  return delivery as unknown as Delivery;
}
