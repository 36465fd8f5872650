import { DEFAULT_RETRY, newMessageId, newObserverId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { Runner } from "../../services/observer-service/src/keeper/runs/runner.ts";
import { eventually } from "../support/eventually.ts";
import { openSlots } from "../support/slots/real-slots.ts";

test("who holds all threads of its slot's pool is found, and its neighbours begin again elsewhere", async () => {
  const { handlers, ...parts } = await openSlots("poison", 1, 1_000, { stuckMs: 200 });
  const told: { kind: string; observerId: string; why: string }[] = [];
  const runner = new Runner({
    ...{ ...parts, handlers, tailBytes: 8_192 },
    events: {
      tell: (event, onConfirmed) => {
        const { kind } = event;
        const observerId = "observerId" in event ? event.observerId : "";
        const error = "error" in event ? `${event.error?.name}: ${event.error?.message}` : "";
        const interruption = "interruption" in event ? event.interruption : "";
        told.push({ kind, observerId, why: error || interruption || "" });
        setImmediate(() => onConfirmed?.());
      },
    },
    errors: { report: () => Promise.resolve() },
    holds: () => true,
    output: () => Promise.resolve(),
  });
  const accept = (name: string, params: object) => {
    const observerId = newObserverId();
    const ids = { observerId, messageId: newMessageId(), revision: 1, name, type: "poison", params, labels: {} };
    const retry = { ...DEFAULT_RETRY, maxAttempts: 1 };
    const start = { ...ids, retry, pool: "default", createdAt: new Date().toISOString() };
    const delivery = { generation: 1, deliveryCount: 0, settle: () => true, queue: "q", shed: () => undefined };
    runner.accept({ start, delivery: delivery as never });
    return observerId;
  };
  const neighbour = accept("neighbour", { how: "nothing" });
  const hog = accept("hog", { how: "pool", afterMs: 100 });
  const wordsOf = (id: string, kind: string) => told.filter((one) => one.observerId === id && one.kind === kind);
  await eventually(
    () =>
      expect(wordsOf(hog, "RunFailed")).toMatchObject([
        { why: expect.stringMatching(/^SlotEndedError: .*ThreadPoolHeldError/) },
      ]),
    { timeoutMs: 60_000 },
  );
  expect(wordsOf(neighbour, "RunFailed")).toEqual([]);
  expect(wordsOf(neighbour, "RunStopped")[0]?.why).toContain("ThreadPoolHeldError");
});
