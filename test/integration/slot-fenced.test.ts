import { existsSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_RETRY, newMessageId, newObserverId, type ServiceEvent } from "@unacked/contracts";
import { expect, test } from "vitest";
import { Runner } from "../../services/observer-service/src/keeper/runs/runner.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { openSlots, STOP_TIMEOUT_MS } from "../support/slots/real-slots.ts";

/** A real slot, and a keeper's runner with no broker, which holds its lease for as long as the test lasts. */
async function keeperWithSlot(stopTimeoutMs?: number) {
  const { handlers, ...parts } = await openSlots("poison", 1, stopTimeoutMs);
  const told: ServiceEvent[] = [];
  const runner = new Runner({
    ...{ ...parts, handlers, tailBytes: 8_192 },
    events: { tell: (event) => void told.push(event) },
    errors: { report: () => Promise.resolve() },
    holds: () => true,
    output: () => Promise.resolve(),
  });
  const accept = (about: { type: string; params: object }) => {
    const ids = { observerId: newObserverId(), messageId: newMessageId(), revision: 1, name: "neighbour" };
    const start = { ...ids, ...about, labels: {}, retry: DEFAULT_RETRY, pool: "default" };
    const settle = () => expect.fail("its message is settled by nobody");
    const delivery = { generation: 1, deliveryCount: 0, settle, queue: "q" };
    runner.accept({ start: { ...start, createdAt: new Date().toISOString() }, delivery: delivery as never });
  };
  return { handlers, runner, told, accept, kinds: () => told.map(({ kind }) => kind) };
}

test.runIf(isTurnOf(1))(
  "a slot that has heard too late that the lease goes on stops its handlers: they begin again, and none has completed",
  async () => {
    const { handlers, runner, told, accept, kinds } = await keeperWithSlot();
    accept({ type: "stamp", params: {} });
    await eventually(() => expect(handlers.slots().map(({ runs }) => runs)).toContain(1));
    expect(kinds()).toEqual(["RunStarted"]);

    runner.heldUntil(performance.now(), STOP_TIMEOUT_MS);
    await eventually(() => expect(kinds().length).toBeGreaterThanOrEqual(3));
    runner.heldUntil(performance.now() + STOP_TIMEOUT_MS, STOP_TIMEOUT_MS);
    expect(kinds().slice(0, 3)).toEqual(["RunStarted", "RunStopped", "RunStarted"]);
    expect(told[1]).toMatchObject({
      reason: "restarted",
      interruption: expect.stringContaining("its slot regarded the lease as over"),
    });
    expect(kinds()).not.toContain("RunCompleted");
    await eventually(() => expect(handlers.slots().map(({ runs }) => runs)).toContain(1));
  },
);

test.runIf(isTurnOf(0))(
  "likewise a handler that ignores its abort, once its slot has been ended for it: it is told of to nobody as failed",
  async () => {
    const { handlers, runner, told, accept, kinds } = await keeperWithSlot(1_000);
    const file = join(temporaryFolder("fenced"), "acts.jsonl");
    accept({ type: "poison", params: { how: "ignore-abort", file } });
    await eventually(() => expect(handlers.slots().map(({ runs }) => runs)).toContain(1));
    const [slot] = handlers.slots().filter(({ runs }) => runs === 1);
    await eventually(() => existsSync(file));

    runner.heldUntil(performance.now(), STOP_TIMEOUT_MS);
    await eventually(() =>
      expect(runner.runs.all()[0]?.state).toMatchObject({ phase: "stopping", cause: { kind: "moved" } }),
    );
    runner.heldUntil(performance.now() + STOP_TIMEOUT_MS, STOP_TIMEOUT_MS);
    await eventually(() => expect(kinds()).toEqual(["RunStarted", "RunStopped", "RunStarted"]), { timeoutMs: 20_000 });
    expect(told[1]).toMatchObject({
      reason: "restarted",
      interruption: expect.stringContaining("regarded the lease as over"),
    });
    expect(told[2]).toMatchObject({ attempt: 1 });
    await eventually(() => expect(handlers.slots().filter(({ runs }) => runs === 1)).toHaveLength(1));
    expect(handlers.slots().map(({ pid }) => pid)).not.toContain(slot?.pid);
  },
);
