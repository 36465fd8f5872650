import {
  type Admit,
  DEFAULT_RETRY,
  newMessageId,
  newObserverId,
  newRunId,
  type RunId,
  type ServiceEvent,
  type StartObserver,
} from "@unacked/contracts";
import { defineObserver } from "@unacked/sdk";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ControlIntake } from "../../../services/observer-service/src/keeper/control/control-intake.ts";
import { Tombstones } from "../../../services/observer-service/src/keeper/intake/tombstones.ts";
import type { LiveRun } from "../../../services/observer-service/src/keeper/runs/live-run.ts";
import { Runner } from "../../../services/observer-service/src/keeper/runs/runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { localHandlers } from "../../support/slots/local-handlers.ts";

/** A service's inner parts with no broker and no slots, and one start whose type asks. */
function asking() {
  const begun: { fencingToken: number; word: string }[] = [];
  const told: ServiceEvent[] = [];
  let held = true;
  const definition = defineObserver({
    type: "asks",
    params: z.strictObject({ word: z.string() }),
    start: "admitted",
    run: ({ fencingToken, params, signal }) => {
      begun.push({ fencingToken, word: params.word });
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    },
  });
  const log = createLog("silent");
  const shared = {
    events: { tell: (event: ServiceEvent) => void told.push(event) },
    errors: { report: () => Promise.resolve() },
    holds: () => held,
    log,
  };
  let noRoom: string | undefined;
  const handlers = Object.assign(localHandlers(definition), { noRoomFor: () => noRoom });
  const runner = new Runner({
    ...shared,
    handlers,
    output: () => Promise.resolve(),
    stopTimeoutMs: 1_000,
    tailBytes: 8_192,
  });
  const intake = new ControlIntake({ ...shared, runner, tombstones: new Tombstones() } as never);
  const start: StartObserver = {
    observerId: newObserverId(),
    revision: 1,
    messageId: newMessageId(),
    name: "one",
    type: "asks",
    params: { word: "sent" },
    labels: {},
    retry: DEFAULT_RETRY,
    pool: "default",
    createdAt: new Date().toISOString(),
  };
  const delivery = { generation: 1, deliveryCount: 0, settle: () => true, queue: "q" };
  runner.accept({ start, delivery: delivery as never, isAdmitted: true });
  const order = (message: object) => intake.take({ generation: 1, body: Buffer.from(JSON.stringify(message)) } as never);
  const admit = (runId: RunId, fencingToken: number, word = "newest"): void => {
    const { observerId, messageId } = start;
    const spec = { params: { word }, labels: {}, retry: DEFAULT_RETRY };
    const target = { observerId, runId, messageId, revision: 1, fencingToken, spec };
    order({ kind: "Admit", targets: [target] } satisfies Admit);
  };
  return {
    begun,
    told,
    runner,
    start,
    order,
    admit,
    loseLease: () => (held = false),
    fill: () => (noRoom = "no slot is free"),
    makeRoom: () => (noRoom = undefined),
    kinds: () => told.map(({ kind }) => kind),
    run: () => runner.runs.ofObserver(start.observerId)[0] as LiveRun,
    asked: () => eventually(() => expect(told.map(({ kind }) => kind)).toContain("RunRequested")),
  };
}

describe("a run whose type asks first", () => {
  test("starts when it is admitted, once, with that token and spec, and says so again to who asks again", async () => {
    const one = asking();
    await one.asked();
    expect([one.begun, one.kinds()]).toEqual([[], ["RunRequested"]]);
    one.admit(one.run().runId, 5_000);
    one.admit(one.run().runId, 6_000, "later");
    await eventually(() => expect(one.begun).toEqual([{ fencingToken: 5_000, word: "newest" }]));
    expect(one.told.slice(1)).toMatchObject([
      { kind: "RunStarted", fencingToken: 5_000 },
      { kind: "RunStarted", fencingToken: 5_000 },
    ]);
  });

  test("and waits for a slot says so, and says so again where the same admission comes again", async () => {
    const one = asking();
    await one.asked();
    one.fill();
    const retries = () => one.told.filter(({ kind }) => kind === "RunRetrying");
    one.admit(one.run().runId, 5_000);
    expect(retries()).toMatchObject([{ attempt: 1, error: { name: "NoSlotError" } }]);
    one.admit(one.run().runId, 5_000);
    expect(retries()).toHaveLength(2);
    one.admit(one.run().runId, 6_000);
    expect(retries()).toHaveLength(2);
    one.admit(one.run().runId, 6_000);
    expect(retries()).toHaveLength(3);
    one.makeRoom();
    one.admit(one.run().runId, 6_000);
    await eventually(() => expect(one.begun).toEqual([{ fencingToken: 6_000, word: "newest" }]));
    expect(retries()).toHaveLength(3);
  });

  test("ends unbegun where it is told to stop, and its message is acked", async () => {
    const one = asking();
    await one.asked();
    one.runner.stop(one.run(), { kind: "not-wanted" });
    expect([one.begun, one.told.at(-1)]).toMatchObject([[], { kind: "RunStopped", reason: "not-wanted" }]);
  });

  test("that is no more answers an admission as one that has lost its message", () => {
    const one = asking();
    one.admit(newRunId(), 5_000);
    expect(one.told).toMatchObject([{ kind: "RunReleased", reason: "lease-lost" }]);
  });

  test("asks again when it is told that another took its place, and holds its message", async () => {
    const one = asking();
    await one.asked();
    const { observerId, messageId } = one.start;
    const target = { observerId, runId: one.run().runId, messageId, revision: 1, reason: "superseded" };
    one.order({ kind: "StopRuns", targets: [target] });
    expect(one.kinds()).toEqual(["RunRequested", "RunRequested"]);
  });

  test("is listed as asking until it has begun", async () => {
    const one = asking();
    await one.asked();
    const { takeInventory } = await import("../../../services/observer-service/src/keeper/control/inventory.ts");
    const listed = () => takeInventory(one.runner.runs.all(), 1, {})[0]?.runs[0];
    expect(listed()).toMatchObject({ requested: true });
    one.admit(one.run().runId, 5_000);
    expect(listed()).toMatchObject({ fencingToken: 5_000 });
    expect(listed()).not.toHaveProperty("requested");
  });

  test("does not start under a lost lease", async () => {
    const one = asking();
    await one.asked();
    one.loseLease();
    one.admit(one.run().runId, 5_000);
    expect(one.begun).toEqual([]);
  });

  test("is followed by runs that its service admits by itself, 999 of them; then it asks", async () => {
    const one = asking();
    await one.asked();
    one.admit(one.run().runId, 5_000);
    for (let next = 1; next <= 999; next += 1) {
      const before = one.run();
      one.runner.stop(before, { kind: "restarted" });
      while (one.run() === before) await new Promise((resolve) => setImmediate(resolve));
    }
    expect([one.begun.length, one.begun.at(-1)]).toEqual([1_000, { fencingToken: 5_999, word: "newest" }]);
    one.runner.stop(one.run(), { kind: "restarted" });
    await eventually(() => expect(one.kinds().filter((kind) => kind === "RunRequested")).toHaveLength(2));
    expect(one.begun).toHaveLength(1_000);
  });
});
