import { DEFAULT_RETRY, newMessageId, newObserverId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { Runner } from "../../services/observer-service/src/keeper/runs/runner.ts";
import { eventually } from "../support/eventually.ts";
import { openSlots } from "../support/slots/real-slots.ts";

/** A real slot, and a keeper's runner whose broker takes nothing until it is told to. */
async function besideBlockedBroker() {
  const { handlers, ...parts } = await openSlots("poison");
  const emitted: string[] = [];
  let blocked: (() => void)[] | undefined = [];
  const runner = new Runner({
    ...{ ...parts, handlers, tailBytes: 8_192 },
    events: { tell: (_event, onConfirmed) => onConfirmed?.() },
    errors: { report: () => Promise.resolve() },
    holds: () => true,
    output: ({ name }) => {
      emitted.push(name);
      return new Promise((resolve) => (blocked === undefined ? resolve() : void blocked.push(resolve)));
    },
  });
  const accept = (name: string) => {
    const ids = { observerId: newObserverId(), messageId: newMessageId(), revision: 1, name };
    const start = {
      ...ids,
      type: "poison",
      params: { how: "emits-and-returns" },
      labels: {},
      retry: DEFAULT_RETRY,
      pool: "default",
    };
    const delivery = { generation: 1, deliveryCount: 0, settle: () => true, queue: "q", shed: () => undefined };
    runner.accept({ start: { ...start, createdAt: new Date().toISOString() }, delivery: delivery as never });
  };
  const goOn = () => {
    const waiting = blocked ?? [];
    blocked = undefined;
    for (const resolve of waiting) resolve();
  };
  return { runner, accept, goOn, emittedBy: (name: string) => emitted.filter((one) => one === name).length };
}

test("a run that ends with thousands of emits that nobody awaits leaves its slot's way out to the others", async () => {
  const { runner, accept, goOn, emittedBy } = await besideBlockedBroker();
  accept("flood");
  await eventually(() => expect(emittedBy("flood")).toBe(1_000));
  await runner.idle();
  goOn();
  accept("next");
  await eventually(() => expect(emittedBy("next")).toBe(1_000));
  expect(emittedBy("flood")).toBe(1_000);
});
