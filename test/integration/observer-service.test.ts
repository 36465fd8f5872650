import { copyFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { newMessageId, newObserverId, newRunId, type ServiceEvent, workQueueName } from "@unacked/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import { overlaps, readStamps } from "../support/acts/stamps.ts";
import { shownConnection } from "../support/broker/connections.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import {
  type ServiceOptions,
  type StandIn,
  standIn,
  startMessage,
  startObserverService,
} from "../support/system/observer-service.ts";

const WORK = workQueueName("default");
const NO_JITTER = { maxAttempts: 3, delaysMs: [50], resetAfterMs: 600_000 };

/** A fresh vhost with a service that has said that it is born. */
async function bornService(options: ServiceOptions = {}) {
  const manager = await standIn();
  const service = startObserverService(manager.amqpUrl, options);
  onTestFinished(async () => {
    await service.kill();
    await manager.close();
  });
  await manager.waitFor("ServiceBorn");
  const [{ serviceId, generation } = { serviceId: "", generation: 0 }] = manager.batches;
  const file = join(temporaryFolder("stamps"), "stamps.jsonl");
  return { manager, service, file, key: `${serviceId}.${generation}` };
}

const queueHolds = (manager: StandIn, counts: object) =>
  eventually(async () => expect(await manager.management.queue(WORK)).toMatchObject(counts), {
    what: `the work queue holding ${JSON.stringify(counts)}`,
  });

const healthUrl = async (service: RunningProcess) => String((await service.waitForEvent("listening")).url);

const ofKind = <K extends ServiceEvent["kind"]>(manager: StandIn, kind: K) =>
  manager.events().filter((event): event is Extract<ServiceEvent, { kind: K }> => event.kind === kind);

describe("a run", () => {
  test("starts when its message arrives, which stays unacked, and ends with an ack when it is stopped", async () => {
    const { manager, service } = await bornService();
    expect(ofKind(manager, "ServiceBorn")[0]).toMatchObject({
      pool: "default",
      workerCount: 10,
      pid: service.pid,
      heartbeatMs: 4_000,
    });
    const { observerId, messageId } = await manager.start();
    const started = await manager.waitFor("RunStarted");
    expect(started).toMatchObject({ observerId, messageId, revision: 1, attempt: 1 });
    await queueHolds(manager, { ready: 0, unacked: 1 });

    await manager.control({ kind: "StopObservers", targets: [{ observerId, revision: 1 }] });
    expect(await manager.waitFor("RunStopped")).toMatchObject({
      observerId,
      messageId,
      runId: started.runId,
      reason: "stopped",
    });
    await queueHolds(manager, { total: 0 });
  });

  test.runIf(isTurnOf(0))("completes when its handler returns", async () => {
    const { manager } = await bornService();
    await manager.start({ params: { returnAfterMs: 50 } });
    await manager.waitFor("RunCompleted");
    await queueHolds(manager, { total: 0 });
  });

  test.runIf(isTurnOf(1))(
    "is retried in place when its handler throws, and fails when its attempts are used up",
    async () => {
      const { manager } = await bornService();
      const { observerId } = await manager.start({ params: { throwAfterMs: 0, throwWhat: "nul" }, retry: NO_JITTER });
      const failed = await manager.waitFor("RunFailed");
      expect(failed).toMatchObject({ observerId, attempts: 3, error: { name: "Error", message: "before\uFFFDafter" } });
      const told = manager.events().filter((event) => "runId" in event && event.runId === failed.runId);
      expect(told.map((event) => event.kind)).toEqual([
        "RunStarted",
        "RunRetrying",
        "RunStarted",
        "RunRetrying",
        "RunStarted",
        "RunFailed",
      ]);
      await queueHolds(manager, { total: 0 });
      await eventually(() =>
        expect(manager.reports).toMatchObject([{ reason: "retries-used-up", observerId, runId: failed.runId }]),
      );
      expect(JSON.parse(manager.reports[0]?.body ?? "")).toMatchObject({ observerId, type: "stamp" });
    },
  );

  test.runIf(isTurnOf(2))("gets its attempts back, and says so, when it was well for long enough", async () => {
    const { manager, file } = await bornService(); // counted there: the next attempt may begin in another slot
    await manager.start({ params: { file, throwAfterMs: 0, throwTimes: 1 }, retry: { ...NO_JITTER, resetAfterMs: 100 } });
    await manager.waitFor("RunStarted", (event) => event.attempt === 2);
    await eventually(() => expect(ofKind(manager, "RunStarted").map((event) => event.attempt)).toEqual([1, 2, 1]));
  });

  test.each(inTurn(["undefined", "frozen", "nasty"]))("survives a handler that throws %s", async (throwWhat) => {
    const { manager } = await bornService();
    await manager.start({ params: { throwAfterMs: 0, throwWhat }, retry: { ...NO_JITTER, maxAttempts: 1 } });
    expect((await manager.waitFor("RunFailed")).error.message).not.toBe("");
  });

  test.runIf(isTurnOf(0))("is stopped at once while it waits for its next attempt", async () => {
    const { manager } = await bornService();
    const { observerId } = await manager.start({ params: { throwAfterMs: 0 }, retry: { ...NO_JITTER, delaysMs: [60_000] } });
    await manager.waitFor("RunRetrying");
    await manager.control({ kind: "StopObservers", targets: [{ observerId, revision: 1 }] });
    await manager.waitFor("RunStopped");
    await queueHolds(manager, { total: 0 });
  });

  test.runIf(isTurnOf(2))("whose params do not pass fails without a retry, with the schema's words", async () => {
    const { manager } = await bornService();
    await manager.start({ params: { everyMs: -1, nonsense: true } });
    const failed = await manager.waitFor("RunFailed");
    expect(failed.attempts).toBe(0);
    expect(failed.error.message).toContain("/everyMs");
    expect(failed.error.message).toContain("/nonsense");
    await queueHolds(manager, { total: 0 });
    await eventually(() => expect(manager.reports).toMatchObject([{ reason: "bad-params" }]));
  });

  test.runIf(isTurnOf(1))("is restarted in place: same message, new run, the old handler settled first", async () => {
    const { manager, file, key } = await bornService();
    const { observerId, messageId } = await manager.start({ params: { file, stopDelayMs: 200 } });
    const { runId } = await manager.waitFor("RunStarted");
    await manager.control({ kind: "RestartRuns", targets: [{ observerId, runId }] }, key);
    const second = await manager.waitFor("RunStarted", (event) => event.runId !== runId);
    expect(second).toMatchObject({ observerId, messageId, revision: 1, attempt: 1 });
    expect(ofKind(manager, "RunStopped")).toMatchObject([{ runId, reason: "restarted" }]);
    await eventually(() =>
      expect(readStamps(file).filter((stamp) => stamp.runId === second.runId).length).toBeGreaterThan(3),
    );
    expect(overlaps(readStamps(file))).toEqual([]);
    await queueHolds(manager, { ready: 0, unacked: 1 });
  });

  test.runIf(isTurnOf(2))("that is told superseded but holds its message says so and goes on", async () => {
    const { manager, file, key } = await bornService();
    const { observerId, messageId } = await manager.start({ params: { file } });
    const { runId } = await manager.waitFor("RunStarted");
    const target = { observerId, messageId, revision: 1, reason: "superseded" as const };
    await manager.control({ kind: "StopRuns", targets: [{ ...target, runId }] }, key);
    expect(await manager.waitFor("RunHeld")).toMatchObject({ observerId, messageId, runId });
    const acts = readStamps(file).length;
    await eventually(() => expect(readStamps(file).length).toBeGreaterThan(acts + 3));

    const unknown = newRunId();
    await manager.control({ kind: "StopRuns", targets: [{ ...target, runId: unknown }] }, key);
    expect(await manager.waitFor("RunStopped")).toMatchObject({ runId: unknown, reason: "superseded" });
  });

  test.runIf(isTurnOf(0))("that is not wanted is stopped and its message acked", async () => {
    const { manager, key } = await bornService();
    const { observerId, messageId } = await manager.start();
    const { runId } = await manager.waitFor("RunStarted");
    await manager.control(
      { kind: "StopRuns", targets: [{ observerId, runId, messageId, revision: 1, reason: "not-wanted" }] },
      key,
    );
    expect(await manager.waitFor("RunStopped")).toMatchObject({ runId, reason: "not-wanted" });
    await queueHolds(manager, { total: 0 });
  });
});

describe("a start", () => {
  test.runIf(isTurnOf(0))("of a revision that runs here already is dropped as a duplicate", async () => {
    const { manager } = await bornService();
    const first = await manager.start();
    const { runId } = await manager.waitFor("RunStarted");
    const second = await manager.start({ ...first, messageId: newMessageId() });
    expect(await manager.waitFor("DuplicateDropped")).toMatchObject({
      observerId: first.observerId,
      messageId: second.messageId,
      keptRunId: runId,
    });
    await queueHolds(manager, { ready: 0, unacked: 1 });
  });

  test.runIf(isTurnOf(1))("of a higher revision ends the old run first; one of a lower is refused", async () => {
    const { manager, file } = await bornService();
    const first = await manager.start({ params: { file, stopDelayMs: 100 }, revision: 2 });
    const { runId } = await manager.waitFor("RunStarted");
    await manager.start({ ...first, messageId: newMessageId(), revision: 3 });
    const second = await manager.waitFor("RunStarted", (event) => event.revision === 3);
    expect(ofKind(manager, "RunStopped")).toMatchObject([{ runId, reason: "obsolete" }]);
    await manager.start({ ...first, messageId: newMessageId(), revision: 1 });
    expect(await manager.waitFor("StartRefused")).toMatchObject({ revision: 1, reason: "stopped" });
    await queueHolds(manager, { ready: 0, unacked: 1 });
    await eventually(() => expect(readStamps(file).some((stamp) => stamp.runId === second.runId)).toBe(true));
    expect(overlaps(readStamps(file))).toEqual([]);
  });

  test.runIf(isTurnOf(2))("that its stop has overtaken is refused, but not one of a higher revision", async () => {
    const { manager, key } = await bornService();
    const observerId = newObserverId();
    await manager.control({ kind: "StopObservers", targets: [{ observerId, revision: 1 }] });
    // The answer to this shows that the stop before it was taken in.
    await manager.control({ kind: "ReportInventory" }, key);
    await manager.waitFor("Inventory");
    await manager.start({ observerId });
    expect(await manager.waitFor("StartRefused")).toMatchObject({ observerId, revision: 1, reason: "stopped" });
    await queueHolds(manager, { total: 0 });
    await manager.start({ observerId, revision: 2 });
    await manager.waitFor("RunStarted");
  });

  test.runIf(isTurnOf(1))("of a type that is not known here is let go", async () => {
    const { manager } = await bornService();
    await manager.start({ type: "from-the-future" });
    expect(await manager.waitFor("StartRefused")).toMatchObject({ reason: "unknown-type" });
    await queueHolds(manager, { total: 0 });
  });

  test.each([
    ["is not JSON", Buffer.from("{ not JSON \0")],
    ["has wrong fields", { ...startMessage(), observerId: 7 }],
    ["is a megabyte of nothing", Buffer.alloc(2 ** 20, 0x20)],
  ])("that %s goes to the errors while its neighbours run on", async (_what, body) => {
    const { manager, file } = await bornService();
    await manager.start({ params: { file } });
    await manager.waitFor("RunStarted");
    await manager.sendRaw(body);
    await eventually(() => expect(manager.reports).toMatchObject([{ reason: "unreadable", queue: WORK }]));
    await queueHolds(manager, { ready: 0, unacked: 1 });
    const acts = readStamps(file).length;
    await eventually(() => expect(readStamps(file).length).toBeGreaterThan(acts + 3));
  });
});

describe("an observer's trouble", () => {
  test.each(inTurn(["timer", "rejection", "microtask"]))(
    "from a %s fails it alone; its neighbours' runs go on unbroken",
    async (throwFrom) => {
      const { manager, service, file } = await bornService();
      const neighbours = await Promise.all(Array.from({ length: 5 }, () => manager.start({ params: { file } })));
      await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(5));
      const bad = await manager.start({ params: { throwAfterMs: 20, throwFrom }, retry: { ...NO_JITTER, maxAttempts: 2 } });
      expect(await manager.waitFor("RunFailed")).toMatchObject({
        observerId: bad.observerId,
        attempts: 2,
        error: { message: "thrown on request" },
      });
      await queueHolds(manager, { ready: 0, unacked: 5 });
      const acts = readStamps(file).length;
      await eventually(() => expect(readStamps(file).length).toBeGreaterThan(acts + 20));
      expect(new Set(readStamps(file).map((stamp) => stamp.runId)).size).toBe(neighbours.length);
      expect(service.exit()).toBeNull();
    },
  );

  test.runIf(isTurnOf(2))("from a listener on its signal harms nobody", async () => {
    const { manager, service } = await bornService();
    const { observerId } = await manager.start({ params: { throwAfterMs: 0, throwFrom: "abort-listener" } });
    await manager.waitFor("RunStarted");
    await manager.control({ kind: "StopObservers", targets: [{ observerId, revision: 1 }] });
    await manager.waitFor("RunStopped");
    expect(service.exit()).toBeNull();
  });
});

describe("the end of a service", () => {
  test("by SIGTERM gives every observer back, each stopped first, and exits 0", async () => {
    const { manager, service, file } = await bornService();
    await Promise.all(Array.from({ length: 3 }, () => manager.start({ params: { file, stopDelayMs: 100 } })));
    await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(3));
    expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await manager.waitFor("ServiceDied");
    expect(ofKind(manager, "RunReleased")).toMatchObject([
      { reason: "draining" },
      { reason: "draining" },
      { reason: "draining" },
    ]);
    expect(manager.events().at(-1)?.kind).toBe("ServiceDied");
    expect(readStamps(file).filter((stamp) => stamp.kind === "stop")).toHaveLength(3);
    await queueHolds(manager, { ready: 3, unacked: 0 });
  });

  test.runIf(isTurnOf(0))("by SIGTERM does not wait for a handler that ignores its abort", async () => {
    const { manager, service } = await bornService({ env: { STOP_TIMEOUT_MS: "1000" } });
    await manager.start({ params: { ignoreAbort: true } });
    await manager.waitFor("RunStarted");
    expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await queueHolds(manager, { ready: 1 });
  });

  test.runIf(isTurnOf(1))("by kill -9 leaves its messages to others", async () => {
    const { manager, service } = await bornService();
    await manager.start();
    await manager.waitFor("RunStarted");
    await service.kill("SIGKILL");
    await queueHolds(manager, { ready: 1, unacked: 0 });
  });

  test.runIf(isTurnOf(2))("by SIGTERM comes at once when there is no broker", async () => {
    const service = startObserverService("amqp://guest:guest@127.0.0.1:1");
    await service.waitForEvent("listening");
    const startedMs = performance.now();
    expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(performance.now() - startedMs).toBeLessThan(30_000);
  });
});

describe("an error that belongs to no observer", () => {
  const OBSERVERS_DIR = "test/fixtures/unattributable-observers";

  test.runIf(isTurnOf(0))("is its file's, and told so: no slot ends of it, and no run fails", async () => {
    const { manager, service } = await bornService({ env: { OBSERVERS_DIR, SLOTS: "1" } });
    await manager.start({ type: "loose-timer" });
    await manager.waitFor("RunStarted");
    const { file, error } = await service.waitForEvent("observer-file-error");
    const eventLines = (event: string) => service.lines.filter((line) => line.includes(`"event":"${event}"`));
    expect([file, error]).toEqual([
      expect.stringMatching(/loose-timer\.ts$/),
      expect.objectContaining({ message: "nobody's error", stack: expect.stringContaining("loose-timer.ts:7") }),
    ]);
    // That of the spare, which loads it last, too.
    await eventually(() => expect(eventLines("observer-file-error").length).toBeGreaterThanOrEqual(2));
    expect(eventLines("slot-gone")).toEqual([]);
    expect(ofKind(manager, "RunRetrying")).toEqual([]);
    await queueHolds(manager, { ready: 0, unacked: 1 });
  });

  test.runIf(isTurnOf(1))("without slots it fences everything, is told, and ends the process with 1", async () => {
    const { manager, service } = await bornService({ env: { OBSERVERS_DIR, SLOTS: "0", LOOSE_TIMER_MS: "8000" } });
    await manager.start({ type: "loose-timer" });
    await manager.waitFor("RunStarted");
    expect(await service.exited).toEqual({ code: 1, signal: null });
    await manager.waitFor("ServiceDied");
    expect(ofKind(manager, "RunReleased")).toMatchObject([{ reason: "lease-lost" }]);
    await queueHolds(manager, { ready: 1, unacked: 0 });
  });
});

describe.runIf(isTurnOf(2))("thousands of starts at once", () => {
  test("are all run, while stops and inventories go through in between", async () => {
    const { manager, service, key } = await bornService({ workers: 3_000 });
    const starts = await Promise.all(Array.from({ length: 2_500 }, () => manager.start({ params: { everyMs: 60_000 } })));
    const { observerId } = starts[7] as (typeof starts)[number];
    await manager.control({ kind: "StopObservers", targets: [{ observerId, revision: 1 }] });
    await eventually(() => expect(ofKind(manager, "RunStarted").length).toBeGreaterThanOrEqual(2_499), {
      timeoutMs: 60_000,
    });
    await manager.waitFor("RunStopped");
    await manager.control({ kind: "ReportInventory" }, key);
    await manager.waitFor("Inventory", ({ part }) => part === 2);
    expect(ofKind(manager, "Inventory").map(({ part, parts, runs }) => [part, parts, runs.length])).toEqual([
      [1, 2, 2_000],
      [2, 2, 499],
    ]);
    expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await queueHolds(manager, { ready: 2_499, unacked: 0 });
  });
});

describe.runIf(isTurnOf(1))("a state queue that takes nothing", () => {
  test("keeps every message unacked until the end of its run has arrived there", async () => {
    const { manager, service } = await bornService();
    // A state queue that takes nothing: the broker nacks what is published to it.
    const policy = "/policies/{vhost}/full";
    const definition = { "max-length": 0, overflow: "reject-publish" };
    await manager.management.call("PUT", policy, { pattern: "^unacked.state$", definition, "apply-to": "queues" });
    await eventually(async () => {
      const queue = await manager.management.call("GET", "/queues/{vhost}/unacked.state");
      expect(queue).toMatchObject({ policy: "full" });
    });
    await manager.start({ params: { returnAfterMs: 500 } });
    await manager.start({ params: { throwAfterMs: 0 }, retry: { ...NO_JITTER, maxAttempts: 1 } });
    await service.waitForEvent("publish-failed");
    await eventually(() => expect(service.lines.filter((line) => line.includes('"run-ended"'))).toHaveLength(2));
    await queueHolds(manager, { ready: 0, unacked: 2 });
    expect(ofKind(manager, "RunCompleted")).toEqual([]);

    await manager.management.call("DELETE", policy);
    await manager.waitFor("RunCompleted");
    await manager.waitFor("RunFailed");
    await queueHolds(manager, { total: 0 });
    expect(manager.batches.map((batch) => batch.seq)).toEqual(manager.batches.map((_, index) => index + 1));
  });
});

describe("an observer's output", () => {
  test("is published under its type and name", async () => {
    const { manager } = await bornService();
    await manager.management.call("PUT", "/queues/{vhost}/listener", { durable: true });
    await manager.management.call("POST", "/bindings/{vhost}/e/unacked.output/q/listener", { routing_key: "stamp.#" });
    const { observerId, name } = await manager.start({ params: { emit: true } });
    const { runId } = await manager.waitFor("RunStarted");
    const message = await eventually(async () => {
      const [first] = await manager.management.get("listener");
      if (first === undefined) throw new Error("nothing was published yet");
      return first;
    });
    expect(message.routingKey).toBe(`stamp.${name}`);
    expect(JSON.parse(message.body.toString())).toEqual({
      observerId,
      name,
      type: "stamp",
      runId,
      at: expect.any(Number),
      event: { hello: name },
    });
  });
});

describe.runIf(isTurnOf(0))("an observers' folder outside of every package", () => {
  test("gets what its files import from the service", async () => {
    const folder = temporaryFolder("observers");
    copyFileSync("test/fixtures/observers/stamp.ts", join(folder, "stamp.ts"));
    const { manager } = await bornService({ env: { OBSERVERS_DIR: folder } });
    await manager.start();
    await manager.waitFor("RunStarted");
  });
});

describe("a lost session", () => {
  test("releases every run, and each runs again exactly once, also with handlers that take long to stop", async () => {
    const { manager, file, service } = await bornService();
    const starts = await Promise.all(Array.from({ length: 5 }, () => manager.start({ params: { file, stopDelayMs: 800 } })));
    await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(5));
    const { name } = await shownConnection(manager.management, "service-1 consumes");
    await manager.management.closeConnection(name);
    await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(10));
    expect(ofKind(manager, "RunReleased")).toHaveLength(5);
    expect(ofKind(manager, "RunReleased").every((event) => event.reason === "lease-lost")).toBe(true);
    expect(manager.batches.map((batch) => batch.generation)).toContain(2);
    expect(
      new Set(
        ofKind(manager, "RunStarted")
          .slice(5)
          .map((event) => event.observerId),
      ),
    ).toEqual(new Set(starts.map((start) => start.observerId)));
    await queueHolds(manager, { ready: 0, unacked: 5 });
    expect(overlaps(readStamps(file))).toEqual([]);
    expect(service.exit()).toBeNull();
  });

  test.runIf(isTurnOf(1))("ends the slot of a handler that outlives its lease", async () => {
    const { manager, service, file } = await bornService();
    await manager.start({ params: { file, ignoreAbort: true } });
    const { runId } = await manager.waitFor("RunStarted");
    await manager.management.deleteQueue(WORK);
    await service.waitForEvent("slot-gone");
    await eventually(() => expect(ofKind(manager, "ServiceBorn")).toHaveLength(2));
    // It declares the queue anew when all who consumed from it have been told.
    await eventually(() => expect(service.lines.filter((line) => line.includes('"consuming"'))).toHaveLength(2));
    // Its message went with the queue: nobody has it.
    expect(ofKind(manager, "RunReleased")).toMatchObject([{ runId, reason: "lease-lost" }]);
    const lastAct = readStamps(file).length;
    await manager.start();
    await manager.waitFor("RunStarted", (event) => event.runId !== runId);
    expect(readStamps(file)).toHaveLength(lastAct);
    expect(service.exit()).toBeNull();
  });

  test.runIf(isTurnOf(2))("without slots it ends the process when a handler outlives its lease", async () => {
    const { manager, service } = await bornService({ env: { SLOTS: "0" } });
    await manager.start({ params: { ignoreAbort: true } });
    await manager.waitFor("RunStarted");
    await manager.management.deleteQueue(WORK);
    expect(await service.exited).toMatchObject({ code: 1 });
    expect(service.lines.some((line) => line.includes("handlers-outlive-lease"))).toBe(true);
  });

  test.runIf(isTurnOf(0))("numbers its batches without a gap, over all generations", async () => {
    const { manager } = await bornService();
    await manager.start();
    await manager.waitFor("RunStarted");
    await manager.management.deleteQueue(WORK);
    await manager.waitFor("RunReleased");
    await eventually(() => expect(manager.batches.at(-1)?.generation).toBeGreaterThanOrEqual(2));
    expect(manager.batches.map((batch) => batch.seq)).toEqual(manager.batches.map((_, index) => index + 1));
  });
});

describe.runIf(isTurnOf(2))("an event loop that is blocked past the lease's deadline", () => {
  test("fences before anything else when it wakes", async () => {
    const { manager, service, file } = await bornService({ env: { HEARTBEAT_S: "1", SLOTS: "0" } });
    await manager.start({ params: { file, blockLoopMs: 1_700, blockAfterMs: 1_000 } });
    await manager.start({ params: { file } });
    await service.waitForEvent("lease-lost");
    // What starts again blocks it again.
    await eventually(() => expect(ofKind(manager, "RunReleased").length).toBeGreaterThanOrEqual(2));
    await eventually(() => expect(ofKind(manager, "ServiceBorn").length).toBeGreaterThanOrEqual(2));
  });
});

describe("control", () => {
  test.runIf(isTurnOf(0))("that cannot be read goes to the errors", async () => {
    const { manager } = await bornService();
    await manager.control(Buffer.from("[]"));
    await eventually(() => expect(manager.reports).toMatchObject([{ reason: "unreadable" }]));
  });

  test.runIf(isTurnOf(1))("is answered with an inventory of what runs", async () => {
    const { manager, key } = await bornService();
    const first = await manager.start();
    const { runId } = await manager.waitFor("RunStarted");
    await manager.control({ kind: "ReportInventory" }, key);
    expect(await manager.waitFor("Inventory")).toMatchObject({
      part: 1,
      parts: 1,
      runs: [{ observerId: first.observerId, runId, attempt: 1 }],
    });
  });
});

describe("health", () => {
  test("is ready while it takes observers, and says what it does", async () => {
    const { manager, service } = await bornService();
    const url = await healthUrl(service);
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
    await manager.start();
    await manager.waitFor("RunStarted");
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ ready: true, running: 1, workerCount: 10 });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/healthz`, { method: "POST" })).status).toBe(405);
  });

  test.runIf(isTurnOf(2))("is not ready without a broker, and says why", async () => {
    const service = startObserverService("amqp://guest:guest@127.0.0.1:1");
    onTestFinished(async () => void (await service.kill()));
    const url = await healthUrl(service);
    await eventually(async () => {
      const answer = await fetch(`${url}/readyz`);
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ ready: false, consumer: { lastLoss: { kind: "connect-failed" } } });
    });
  });
});

test.runIf(isTurnOf(1))("a service that was given no name bears its host's", async () => {
  const { manager } = await bornService({ env: { SERVICE_NAME: undefined } });
  expect(manager.batches[0]?.serviceName).toBe(hostname());
});

describe("a service that cannot start", () => {
  test.each<[string, Record<string, string | undefined>, string]>([
    ["a setting is wrong", { WORKER_COUNT: "many" }, "WORKER_COUNT: must be a whole number from 1 to 65535, or auto"],
    ["one is missing", { AMQP_URL: undefined }, "AMQP_URL: is required"],
    ["the broker's address is none", { AMQP_URL: "http://secret:word@x" }, "AMQP_URL"],
    ["its folder is missing", { OBSERVERS_DIR: "nowhere" }, "nowhere"],
    ["none of its files loads", { OBSERVERS_DIR: "test/fixtures/broken-observers" }, "broken.ts:1:7"],
  ])("says so in one line and exits with 2 when %s", async (_what, env, words) => {
    const service = startObserverService("amqp://guest:guest@127.0.0.1:1", { env });
    expect(await service.exited).toEqual({ code: 2, signal: null });
    expect(service.lines).toHaveLength(1);
    expect(service.lines[0]).toContain(words);
    expect(service.lines[0]).toMatch(/"remedy":"(--help lists each setting|OBSERVERS_DIR must have a file)/);
    expect(service.lines[0]).not.toContain("secret");
  });
});
