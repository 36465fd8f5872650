import { DEFAULT_RETRY, newMessageId, newObserverId, type ServiceEvent } from "@unacked/contracts";
import { expect, test } from "vitest";
import { Runner } from "../../services/observer-service/src/keeper/runs/runner.ts";
import { eventually } from "../support/eventually.ts";
import { openSlots, STOP_TIMEOUT_MS } from "../support/slots/real-slots.ts";

/** A real slot, and a keeper's runner with no broker, which holds its lease for as long as the test lasts. */
async function keeperWithSlot() {
  const { handlers, ...parts } = await openSlots("poison");
  const told: ServiceEvent[] = [];
  const runner = new Runner({
    ...{ ...parts, handlers, tailBytes: 8_192 },
    events: { tell: (event) => void told.push(event) },
    errors: { report: () => Promise.resolve() },
    holds: () => true,
    output: () => Promise.resolve(),
  });
  return { handlers, runner, told };
}

test("a slot that has heard too late that the lease goes on stops its handlers: they begin again, and none has completed", async () => {
  const { handlers, runner, told } = await keeperWithSlot();
  const ids = { observerId: newObserverId(), messageId: newMessageId(), revision: 1, name: "neighbour" };
  const start = { ...ids, type: "stamp", params: {}, labels: {}, retry: DEFAULT_RETRY, pool: "default" };
  const settle = () => expect.fail("its message is settled by nobody");
  const delivery = { generation: 1, deliveryCount: 0, settle, queue: "q" };
  runner.accept({ start: { ...start, createdAt: new Date().toISOString() }, delivery: delivery as never });
  const kinds = () => told.map(({ kind }) => kind);
  await eventually(() => expect(handlers.slots().map(({ runs }) => runs)).toContain(1));
  expect(kinds()).toEqual(["RunStarted"]);

  runner.heldUntil(performance.now(), STOP_TIMEOUT_MS);
  await eventually(() => expect(kinds().length).toBeGreaterThanOrEqual(3));
  runner.heldUntil(performance.now() + STOP_TIMEOUT_MS, STOP_TIMEOUT_MS);
  expect(kinds().slice(0, 3)).toEqual(["RunStarted", "RunStopped", "RunStarted"]);
  expect(told[1]).toMatchObject({
    reason: "restarted",
    interruption: expect.stringContaining("its slot took the lease for over"),
  });
  expect(kinds()).not.toContain("RunCompleted");
  await eventually(() => expect(handlers.slots().map(({ runs }) => runs)).toContain(1));
}, 60_000);
