import { DEFAULT_RETRY, newMessageId, newObserverId, type ServiceEvent, type StartObserver } from "@unacked/contracts";
import { defineObserver } from "@unacked/sdk";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { GivenBack } from "../../../services/observer-service/src/keeper/intake/given-back.ts";
import { Intake } from "../../../services/observer-service/src/keeper/intake/intake.ts";
import { Tombstones } from "../../../services/observer-service/src/keeper/intake/tombstones.ts";
import { Runner } from "../../../services/observer-service/src/keeper/runs/runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { localHandlers } from "../../support/slots/local-handlers.ts";

const GENERATION = 1;

/** A service's inner parts with no broker: the test decides when the lease is held and when an event is confirmed. */
function parts() {
  let isHeld = true;
  let endHandler: () => void = () => undefined;
  const run = vi.fn(() => new Promise<void>((resolve) => (endHandler = resolve)));
  const definition = defineObserver({ type: "guarded", params: z.strictObject({}), run });
  const told: { event: ServiceEvent; confirm: () => void }[] = [];
  const shared = {
    events: {
      tell: (event: ServiceEvent, onConfirmed: () => void = () => undefined) =>
        void told.push({ event, confirm: onConfirmed }),
    },
    errors: { report: () => Promise.resolve() },
    holds: (generation: number) => isHeld && generation === GENERATION,
    log: createLog("silent"),
  };
  const handlers = localHandlers(definition);
  const givenBack = new GivenBack();
  const runner = new Runner({
    ...shared,
    onGivenBack: (observerId) => givenBack.note(observerId, performance.now()),
    handlers,
    output: () => Promise.resolve(),
    stopTimeoutMs: 1_000,
    tailBytes: 8_192,
  });
  const tombstones = new Tombstones();
  const knowsType = (type: string) => type === definition.type;
  const asksFirst = () => false;
  const saves = () => false;
  const takenBack = vi.fn((_generation: number) => void (isHeld = false));
  const closing = new AbortController().signal;
  const intake = new Intake({ ...shared, takenBack, runner, knowsType, asksFirst, saves, tombstones, closing });
  return {
    intake,
    takenBack,
    runner,
    givenBack: () => givenBack.since(performance.now()).map(({ observerId }) => observerId),
    tombstones,
    run,
    endHandler: () => endHandler(),
    loseLease: () => {
      isHeld = false;
    },
    /** The event of this kind, as soon as it was told. */
    untilTold: (kind: ServiceEvent["kind"]) =>
      eventually(() => {
        const found = told.find(({ event }) => event.kind === kind);
        if (found === undefined) throw new Error(`told: ${told.map(({ event }) => event.kind).join(", ")}`);
        return found;
      }),
  };
}

function delivery(start: Partial<StartObserver> = {}, deliveryCount = 0) {
  const body: StartObserver = {
    observerId: newObserverId(),
    revision: 1,
    messageId: newMessageId(),
    name: "guarded",
    type: "guarded",
    params: {},
    labels: {},
    retry: DEFAULT_RETRY,
    pool: "default",
    createdAt: new Date().toISOString(),
    ...start,
  };
  const settle = vi.fn((_outcome: "ack" | "requeue") => true);
  const properties = { headers: {} };
  return {
    start: body,
    body: Buffer.from(JSON.stringify(body)),
    redelivered: deliveryCount > 0,
    deliveryCount,
    queue: "work",
    generation: GENERATION,
    properties,
    settle,
    shed: () => undefined,
  };
}

describe("a message whose generation has lost its lease", () => {
  test("is neither started nor settled when it comes", () => {
    const { intake, runner, loseLease } = parts();
    const late = delivery();
    loseLease();
    intake.take(late);
    expect(runner.runs.size).toBe(0);
    expect(late.settle).not.toHaveBeenCalled();
  });

  test("is not started when the lease goes while it waits for its turn", async () => {
    const { intake, run, runner, loseLease } = parts();
    const waiting = delivery();
    intake.take(waiting);
    loseLease();
    await eventually(() => expect(runner.runs.size).toBe(0));
    expect(run).not.toHaveBeenCalled();
    expect(waiting.settle).not.toHaveBeenCalled();
  });

  test("is not acked when the end of its run is confirmed", async () => {
    const { intake, endHandler, untilTold, loseLease } = parts();
    const ended = delivery();
    intake.take(ended);
    await untilTold("RunStarted");
    endHandler();
    const { confirm } = await untilTold("RunCompleted");
    loseLease();
    confirm();
    expect(ended.settle).not.toHaveBeenCalled();
  });

  test("is not acked when its refusal is confirmed", async () => {
    const { intake, tombstones, untilTold, loseLease } = parts();
    const refused = delivery();
    tombstones.remember(refused.start.observerId, 1, performance.now());
    intake.take(refused);
    const { confirm } = await untilTold("StartRefused");
    loseLease();
    confirm();
    expect(refused.settle).not.toHaveBeenCalled();
  });
});

test("a message that comes once more while its run is at work is not settled: the broker has taken all back", async () => {
  const { intake, untilTold, takenBack, runner } = parts();
  const first = delivery();
  intake.take(first);
  await untilTold("RunStarted");
  const again = delivery(first.start, 1);
  intake.take(again);
  expect(takenBack).toHaveBeenCalledExactlyOnceWith(GENERATION);
  expect(again.settle).not.toHaveBeenCalled();
  expect(runner.runs.ofObserver(first.start.observerId)).toHaveLength(1);
});

test("a message whose lease is held is acked when the end of its run is confirmed, and not before", async () => {
  const { intake, endHandler, untilTold } = parts();
  const ended = delivery();
  intake.take(ended);
  await untilTold("RunStarted");
  endHandler();
  const { confirm } = await untilTold("RunCompleted");
  expect(ended.settle).not.toHaveBeenCalled();
  confirm();
  expect(ended.settle.mock.calls).toEqual([["ack"]]);
});

test("whose message the end of a run gives back is noted when it goes, for the next inventory: it may be behind a marker by then", async () => {
  const { intake, runner, untilTold, endHandler, givenBack } = parts();
  const given = delivery();
  intake.take(given);
  await untilTold("RunStarted");
  runner.stopAll({ kind: "shed" });
  endHandler();
  await eventually(() => expect(runner.runs.size).toBe(0));
  const { confirm } = await untilTold("RunReleased");
  expect(givenBack()).toEqual([]);
  confirm();
  expect(given.settle).toHaveBeenCalledExactlyOnceWith("requeue");
  expect(givenBack()).toEqual([given.start.observerId]);
});
