import { DEFAULT_RETRY, newMessageId, newObserverId, type ServiceEvent, type StartObserver } from "@unacked/contracts";
import { defineObserver } from "@unacked/sdk";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { ControlIntake } from "../../../services/observer-service/src/keeper/control/control-intake.ts";
import { Intake } from "../../../services/observer-service/src/keeper/intake/intake.ts";
import { Tombstones } from "../../../services/observer-service/src/keeper/intake/tombstones.ts";
import { Runner } from "../../../services/observer-service/src/keeper/runs/runner.ts";
import { createLog, type Log } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { localHandlers } from "../../support/slots/local-handlers.ts";
import { newServices, runOf, Scene, started } from "../manager/books-fixture.ts";

afterEach(() => void vi.useRealTimers());

/** A service's runs and what orders them, with no broker: each event is confirmed a moment after it was told, an error report when the test says so. */
function parts({ fails = false, asks = false } = {}) {
  let noRoom: string | undefined;
  const run = vi.fn(async ({ signal }: { signal: AbortSignal }) => {
    if (fails) throw new Error("no");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  const handlers = localHandlers(defineObserver({ type: "guarded", params: z.strictObject({}), run }));
  Object.assign(handlers, { noRoomFor: () => noRoom });
  const told: ServiceEvent[] = [];
  const warnings: { event: string }[] = [];
  const reports: string[] = [];
  let reported = (): void => undefined;
  const log = { ...createLog("silent"), isLevelEnabled: () => true, info: () => undefined } as unknown as Log;
  Object.assign(log, { child: () => log, warn: (fields: { event: string }) => void warnings.push(fields) });
  const shared = {
    events: {
      tell: (event: ServiceEvent, confirmed = () => undefined as void) => void (told.push(event), setImmediate(confirmed)),
    },
    errors: {
      report: ({ reason }: { reason: string }, _message: object, signal: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          reports.push(reason);
          reported = resolve;
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    },
    holds: () => true,
    log,
  };
  const output = () => Promise.resolve();
  const runner = new Runner({ ...shared, handlers, output, stopTimeoutMs: 1_000, tailBytes: 8_192 });
  const none = () => {
    throw new Error("not asked for here");
  };
  const both = {
    ...shared,
    runner,
    tombstones: new Tombstones(),
    closing: new AbortController().signal,
    takenBack: none,
  };
  const intake = new Intake({ ...both, knowsType: () => true, asksFirst: () => asks, saves: () => false });
  const control = new ControlIntake({
    ...both,
    introduce: none,
    givenBack: none,
    flushed: none,
    orders: { drain: none, cordon: none, uncordon: none, give: none, stepAside: none, reload: none },
    logs: { answer: none },
    tasks: { cancel: none, report: none },
  });
  const about = { generation: 1, properties: { headers: {} } };
  return {
    runner,
    run,
    notReported: () => warnings.filter(({ event }) => event === "run-not-reported"),
    reports,
    /** The broker takes the newest report. */
    reported: () => reported,
    events: told,
    told: () => told.map((event) => ("reason" in event ? `${event.kind} ${event.reason}` : event.kind)),
    setRoom: (why: string | undefined) => (noRoom = why),
    /** @param behind whatever runs of the observer, though it may be a second message of the same revision */
    accept(start: StartObserver, behind = false) {
      const settle = vi.fn(() => true);
      const body = Buffer.from(JSON.stringify(start));
      const delivery = { ...about, body, redelivered: false, deliveryCount: 0, queue: "work", settle };
      if (behind) runner.accept({ start, delivery: { ...delivery, shed: () => undefined } });
      else intake.take({ ...delivery, shed: () => undefined } as never);
      return settle;
    },
    order: (message: object) =>
      control.take({ ...about, queue: "control", body: Buffer.from(JSON.stringify(message)) } as never),
    untilTold: (what: string) => eventually(() => expect(told.map(({ kind }) => kind)).toContain(what)),
    untilReporting: () => eventually(() => expect(runner.runs.all()[0]?.state.phase).toBe("reporting")),
  };
}

const start = (retry = DEFAULT_RETRY): StartObserver => ({
  observerId: newObserverId(),
  revision: 1,
  messageId: newMessageId(),
  name: "guarded",
  type: "guarded",
  params: {},
  labels: {},
  retry,
  pool: "default",
  createdAt: new Date().toISOString(),
});

describe("a run that has failed for good, whose error report the broker does not take", () => {
  const once = { ...DEFAULT_RETRY, maxAttempts: 1 };

  test("ends by a stop, as failed, and its service says at once what was not reported", async () => {
    const { accept, order, told, untilReporting, notReported } = parts({ fails: true });
    const observer = start(once);
    const settle = accept(observer);
    await untilReporting();
    order({ kind: "StopObservers", targets: [{ observerId: observer.observerId, revision: 1 }] });
    const why = { reason: "retries-used-up", detail: "Error: no" };
    expect(notReported()).toEqual([{ event: "run-not-reported", ...why }]);
    await eventually(() => expect(settle).toHaveBeenCalledExactlyOnceWith("ack"));
    expect(told()).toEqual(["RunStarted", "RunFailed"]);
  });

  test("says nothing of that where it was reported after all, or is reported elsewhere", async () => {
    const { accept, runner, told, reported, untilReporting, untilTold, notReported } = parts({ fails: true });
    accept(start(once));
    await untilReporting();
    reported()();
    await untilTold("RunFailed");
    accept(start(once));
    await untilReporting();
    runner.fence();
    expect(told().at(-1)).toBe("RunReleased lease-lost");
    await new Promise(setImmediate);
    expect(notReported()).toEqual([]);
  });

  test("is reported as unknown where the books have lost it, and ends when that is taken, not what was under way", async () => {
    const { accept, order, runner, told, reported, reports, untilReporting } = parts({ fails: true });
    const observer = start(once);
    const settle = accept(observer);
    await untilReporting();
    const first = reported();
    const { observerId, messageId, revision } = observer;
    const runId = runner.runs.all()[0]?.runId;
    order({ kind: "StopRuns", targets: [{ observerId, runId, messageId, revision, reason: "unknown" }] });
    expect(reports).toEqual(["retries-used-up", "unknown-observer"]);
    first();
    await new Promise(setImmediate);
    expect(told()).toEqual(["RunStarted"]);
    reported()();
    await eventually(() => expect(settle).toHaveBeenCalledExactlyOnceWith("ack"));
    expect(told()).toEqual(["RunStarted", "RunStopped unknown"]);
  });

  test("does not hold up a drain for more than 3 s", async () => {
    const { accept, runner, told, untilReporting } = parts({ fails: true });
    const settle = accept(start(once));
    await untilReporting();
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    runner.stopAll({ kind: "draining" });
    vi.advanceTimersByTime(2_999);
    expect(told()).toEqual(["RunStarted"]);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await eventually(() => expect(settle).toHaveBeenCalledExactlyOnceWith("requeue"));
    expect(told()).toEqual(["RunStarted", "RunReleased draining"]);
  });

  test("is not moved, nor given back where its type is gone, and nobody steps aside for it", async () => {
    const { accept, order, runner, told, untilReporting } = parts({ fails: true });
    const observer = start(once);
    accept(observer);
    await untilReporting();
    const [run] = runner.runs.all();
    const { observerId, messageId, revision } = observer;
    order({ kind: "ShedRuns", targets: [{ observerId, runId: run?.runId, messageId, revision }] });
    runner.renew({ gone: ["guarded"] });
    expect(told()).toEqual(["RunStarted"]);
    expect(run?.state.phase).toBe("reporting");
  });
});

test("a run whose type is gone from the folder says that as it is given back, and not that it was moved", async () => {
  const { accept, events, run, runner, untilTold } = parts();
  const settle = accept(start());
  await eventually(() => expect(run).toHaveBeenCalledTimes(1));
  runner.renew({ gone: ["guarded"] });
  await untilTold("RunReleased");
  const released = events.find(({ kind }) => kind === "RunReleased");
  expect(released).toMatchObject({ reason: "draining", typeGone: true });
  expect(released).not.toHaveProperty("moved");
  await eventually(() => expect(settle).toHaveBeenCalledWith("requeue"));
});

test("a restart that is asked for while a run waits for a slot is followed then, and does not end it once it has begun", async () => {
  const { accept, order, run, runner, setRoom, told, untilTold } = parts();
  setRoom("no slot is free");
  const { observerId, ...rest } = start();
  accept({ observerId, ...rest });
  await untilTold("RunRetrying");
  const [waiting] = runner.runs.ofObserver(observerId);
  const restart = { kind: "RestartRuns", targets: [{ observerId, runId: waiting?.runId }] };
  order(restart);
  expect(told()).toEqual(["RunRetrying", "RunStopped restarted", "RunRetrying"]);
  setRoom(undefined);
  await eventually(() => expect(run).toHaveBeenCalledTimes(1));
  order(restart); // said again, as the books had not read yet that it is done
  expect(told()).toEqual(["RunRetrying", "RunStopped restarted", "RunRetrying", "RunStarted"]);
});

test("a restart of a run that waits for another of its observer to settle leaves its successor in its place", async () => {
  const { accept, run, runner, told, untilTold } = parts();
  const first = start();
  accept(first);
  await untilTold("RunStarted");
  accept({ ...first, messageId: newMessageId() }, true);
  const [running, waiting] = runner.runs.ofObserver(first.observerId);
  if (running === undefined || waiting === undefined) throw new Error("two were accepted");
  runner.stop(waiting, { kind: "restarted" });
  expect(told()).toEqual(["RunStarted", "RunStopped restarted"]);
  expect(run).toHaveBeenCalledTimes(1);
  runner.stop(running, { kind: "stopped" });
  await eventually(() => expect(told().slice(2)).toEqual(["RunStopped stopped", "RunStarted"]));
});

test("a run for which a second message is dropped says that it is the one: the books' order to stop it for the other is void", async () => {
  const { accept, order, events } = parts();
  const scene = new Scene();
  const [a, b] = newServices();
  const observer = scene.observer();
  const of = { ...start(), observerId: observer.id };
  const first = accept(of);
  const run = await eventually(() => {
    const found = events.find((event) => event.kind === "RunStarted");
    if (found === undefined) throw new Error("not started yet");
    return found;
  });
  const elsewhere = runOf(observer);
  scene.say(a, [...events]);
  scene.say(b, [started(elsewhere)]);
  expect(scene.stopOf(run.runId)).toMatchObject({ reason: "duplicate" });
  // The other service dies, and its message comes here before the order does.
  const second = accept({ ...of, messageId: elsewhere.messageId });
  await eventually(() => expect(second).toHaveBeenCalledExactlyOnceWith("ack"));
  scene.say(a, events.slice(1));
  scene.apply({ kind: "DeathCertificate", serviceId: b, generation: 1 });
  expect(observer).toMatchObject({ status: "Processing", currentRunId: run.runId });
  expect([scene.stopOf(run.runId), scene.stopOf(elsewhere.runId)]).toEqual([undefined, undefined]);
  // One that was on its way already ends it, as the last: it is sent again at once.
  const { observerId, runId, messageId, revision } = run;
  order({ kind: "StopRuns", targets: [{ observerId, runId, messageId, revision, reason: "duplicate" }] });
  await eventually(() => expect(first).toHaveBeenCalledExactlyOnceWith("ack"));
  scene.say(a, events.slice(-1));
  expect(observer).toMatchObject({ status: "Created", revision: 2 });
  expect(scene.wanted).toContainEqual({ kind: "start", observerId, revision: 2, delayMs: 0 });
});

test.for([
  { isKnown: true, hasBegun: false },
  { isKnown: false, hasBegun: false },
  { isKnown: false, hasBegun: true },
])(
  "one that asks first is sent again, too, where such an order ends it: the other's death is known before: $isKnown, it had begun: $hasBegun",
  async ({ isKnown, hasBegun }) => {
    const { accept, order, events, untilTold } = parts({ asks: true });
    const scene = new Scene();
    const [a, b] = newServices();
    const observer = scene.observer();
    const death = { kind: "DeathCertificate", serviceId: b, generation: 1 } as const;
    const of = { ...start(), observerId: observer.id };
    const first = accept(of);
    await untilTold("RunRequested");
    const [run] = events as Extract<ServiceEvent, { kind: "RunRequested" }>[];
    if (run === undefined) throw new Error("it has not asked");
    const elsewhere = runOf(observer);
    scene.say(b, [{ ...run, ...elsewhere }]);
    if (hasBegun) scene.say(b, [started(elsewhere)]);
    scene.say(a, [...events]);
    expect(scene.stopOf(run.runId)).toMatchObject({ reason: "duplicate" });
    // The other service dies, and its message comes here before the order does.
    const second = accept({ ...of, messageId: elsewhere.messageId });
    await eventually(() => expect(second).toHaveBeenCalledExactlyOnceWith("ack"));
    if (isKnown) scene.apply(death);
    scene.say(a, events.slice(1));
    expect(observer).toMatchObject({ currentRunId: null, requestedRunId: run.runId });
    expect(scene.stopOf(run.runId)).toBeUndefined();
    const { observerId, runId, messageId, revision } = run;
    order({ kind: "StopRuns", targets: [{ observerId, runId, messageId, revision, reason: "duplicate" }] });
    await eventually(() => expect(first).toHaveBeenCalledExactlyOnceWith("ack"));
    scene.say(a, events.slice(-1));
    if (!isKnown) scene.apply(death);
    expect(observer).toMatchObject({ status: "Created", revision: 2, requestedRunId: null });
    expect(scene.wanted).toContainEqual({ kind: "start", observerId, revision: 2, delayMs: 0 });
  },
);

test("a run stays the one where its own message is dropped, and where that of one that has gone is told late", () => {
  const scene = new Scene();
  const [a, b] = newServices();
  const observer = scene.observer();
  const [gone, run] = [runOf(observer), runOf(observer)];
  scene.say(a, [started(gone)]);
  scene.say(b, [started(run)]);
  scene.apply({ kind: "DeathCertificate", serviceId: a, generation: 1 });
  const { observerId, messageId, revision, runId } = run;
  const dropped = { kind: "DuplicateDropped", observerId, messageId, revision, at: 1 } as const;
  scene.say(a, [{ ...dropped, keptRunId: gone.runId }]);
  scene.say(b, [{ ...dropped, keptRunId: runId }]);
  expect(observer).toMatchObject({ status: "Processing", currentRunId: runId });
});
