import { newMessageId, newObserverId, type ServiceEvent, type StartObserver } from "@unacked/contracts";
import { expect, test } from "vitest";
import { Runner } from "../../services/observer-service/src/keeper/runs/runner.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { openSlots } from "../support/slots/real-slots.ts";

const AN_HOUR_MS = 3_600_000;

/** Real slots, and a keeper's runner with no broker, of an observer that was found guilty and has to be alone. */
async function guilty(how: string, maxAttempts: number) {
  const { handlers, ...parts } = await openSlots("poison");
  const told: ServiceEvent["kind"][] = [];
  const runner = new Runner({
    ...{ ...parts, handlers, tailBytes: 8_192 },
    events: {
      tell: ({ kind }, onConfirmed) => {
        told.push(kind);
        onConfirmed?.();
      },
    },
    errors: { report: () => Promise.resolve() },
    holds: () => true,
    output: () => Promise.resolve(),
  });
  const ids = { observerId: newObserverId(), messageId: newMessageId(), revision: 1, name: "guilty" };
  const retry = { maxAttempts, delaysMs: [AN_HOUR_MS], resetAfterMs: AN_HOUR_MS };
  const about = { ...ids, type: "poison", params: { how, afterMs: 500 }, labels: {}, retry, pool: "default" };
  const start: StartObserver = { ...about, createdAt: new Date().toISOString() };
  const delivery = { generation: 1, deliveryCount: 0, settle: () => true, queue: "q", shed: () => undefined };
  handlers.keepAlone({ start } as never);
  const accept = (more: Partial<StartObserver> = {}) =>
    runner.accept({ start: { ...start, ...more }, delivery: delivery as never });
  accept();
  const purposes = () => handlers.slots().map(({ purpose }) => purpose);
  await eventually(() => expect(purposes()).toContain("alone"));
  const untilTold = (kind: ServiceEvent["kind"]) => eventually(() => expect(told).toContain(kind));
  const untilNoneIsAlone = () => eventually(() => expect(purposes()).not.toContain("alone"));
  const stop = (messageId: string, kind: "stopped" | "shed") => {
    for (const run of runner.runs.all()) if (run.start.messageId === messageId) runner.stop(run, { kind });
  };
  return { start, accept, stop, purposes, untilTold, untilNoneIsAlone };
}

test.runIf(isTurnOf(1))("the slot of one that has to be alone is let go when that has failed for good", async () => {
  const { untilTold, untilNoneIsAlone } = await guilty("exit", 1);
  await untilTold("RunFailed");
  await untilNoneIsAlone();
});

test.runIf(isTurnOf(2))("likewise when it has completed", async () => {
  const { untilTold, untilNoneIsAlone } = await guilty("emits-and-returns", 1);
  await untilTold("RunCompleted");
  await untilNoneIsAlone();
});

test.runIf(isTurnOf(0))(
  "likewise when it is deleted between two attempts, but not when a second message of it goes",
  async () => {
    const { start, accept, stop, purposes, untilTold, untilNoneIsAlone } = await guilty("exit", 2);
    await untilTold("RunRetrying");
    const second = newMessageId();
    accept({ messageId: second });
    stop(second, "shed");
    expect(purposes()).toContain("alone");
    stop(start.messageId, "stopped");
    await untilTold("RunStopped");
    await untilNoneIsAlone();
  },
);
