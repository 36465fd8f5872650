import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type ServiceEvent, workQueueName } from "@unacked/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import { overlaps, readStamps } from "../support/acts/stamps.ts";
import { shownConnection } from "../support/broker/connections.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { type ServiceOptions, type StandIn, standIn, startObserverService } from "../support/system/observer-service.ts";

const WORK = workQueueName("default");

async function bornService(options: ServiceOptions = {}) {
  const manager = await standIn();
  const service = startObserverService(manager.amqpUrl, options);
  onTestFinished(async () => {
    await service.kill();
    await manager.close();
  });
  await manager.waitFor("ServiceBorn");
  const [{ serviceId } = { serviceId: "" }] = manager.batches;
  const file = join(temporaryFolder("stamps"), "stamps.jsonl");
  return { manager, service, file, keyOf: (generation: number) => `${serviceId}.${generation}` };
}

const queueHolds = (manager: StandIn, counts: object) =>
  eventually(async () => expect(await manager.management.queue(WORK)).toMatchObject(counts), {
    what: `the work queue holding ${JSON.stringify(counts)}`,
  });

const ofKind = <K extends ServiceEvent["kind"]>(manager: StandIn, kind: K) =>
  manager.events().filter((event): event is Extract<ServiceEvent, { kind: K }> => event.kind === kind);

const running = async (manager: StandIn, count: number, params: object) => {
  await Promise.all(Array.from({ length: count }, () => manager.start({ params })));
  await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(count));
};

/** What it says of itself, over HTTP. */
async function readiness(service: RunningProcess): Promise<unknown> {
  const { url } = await service.waitForEvent("listening");
  return (await fetch(`${String(url)}/readyz`)).json();
}

const drained = (manager: StandIn) => manager.waitFor("ServiceAlive", (alive) => alive.draining && alive.running === 0);

/** Every second look at the queue finds it as it was: nobody has taken anything meanwhile. */
async function nothingIsTaken(manager: StandIn, ready: number): Promise<void> {
  const answers = ofKind(manager, "ServiceAlive").length;
  // It says that it lives each 5 s: by then it would have taken what is there.
  await eventually(() => expect(ofKind(manager, "ServiceAlive").length).toBeGreaterThan(answers), { timeoutMs: 15_000 });
  await queueHolds(manager, { ready, unacked: 0, consumers: 0 });
}

describe("a service that is told to drain", () => {
  test("gives every observer back, each stopped first, says so, and stays without taking anything", async () => {
    const { manager, service, file, keyOf } = await bornService();
    await running(manager, 3, { file, stopDelayMs: 200 });
    await manager.control({ kind: "Drain" }, keyOf(1));
    expect(await manager.waitFor("ServiceAlive", ({ draining }) => draining)).toMatchObject({ running: 3 });
    await drained(manager);
    expect(ofKind(manager, "RunReleased").map(({ reason }) => reason)).toEqual(["draining", "draining", "draining"]);
    expect(readStamps(file).filter(({ kind }) => kind === "stop")).toHaveLength(3);
    await queueHolds(manager, { ready: 3, unacked: 0, consumers: 0 });
    await manager.start({ params: { file } });
    await nothingIsTaken(manager, 4);
    expect(ofKind(manager, "RunStarted")).toHaveLength(3);
    expect(await readiness(service)).toMatchObject({ ready: false, draining: true, leaseHeld: true, running: 0 });
    expect(service.exit()).toBeNull();
  });

  test.runIf(isTurnOf(1))("answers as often as it is told, also when it runs nothing", async () => {
    const { manager, keyOf } = await bornService();
    await manager.control({ kind: "Drain" }, keyOf(1));
    await drained(manager);
    const answers = ofKind(manager, "ServiceAlive").length;
    await manager.control({ kind: "Drain" }, keyOf(1));
    await manager.control({ kind: "Drain" }, keyOf(1));
    await eventually(() => expect(ofKind(manager, "ServiceAlive").length).toBeGreaterThanOrEqual(answers + 1));
    expect(ofKind(manager, "ServiceAlive").slice(-1)).toMatchObject([{ draining: true }]);
  });

  test.runIf(isTurnOf(0))("drains in its next generation, too: it introduces itself so, and consumes nothing", async () => {
    const { manager, service, file, keyOf } = await bornService();
    await running(manager, 2, { file });
    await manager.control({ kind: "Drain" }, keyOf(1));
    await drained(manager);
    const { name } = await shownConnection(manager.management, "service-1 consumes");
    await manager.management.closeConnection(name);
    await manager.waitFor("ServiceBorn", ({ draining }) => draining);
    expect(manager.batches.at(-1)?.generation).toBe(2);
    await nothingIsTaken(manager, 2);
    // It listens all the same.
    await manager.control({ kind: "ReportInventory" }, keyOf(2));
    expect(await manager.waitFor("Inventory")).toMatchObject({ runs: [] });
    expect(service.exit()).toBeNull();
  });

  test.runIf(isTurnOf(1))(
    "keeps what does not stop in time, takes nothing for it, and gives it back when it does",
    async () => {
      const { manager, service, file, keyOf } = await bornService({ env: { STOP_TIMEOUT_MS: "500" } });
      await running(manager, 1, { file, stopDelayMs: 6_000 });
      await manager.control({ kind: "Drain" }, keyOf(1));
      await service.waitForEvent("drained-without");
      await queueHolds(manager, { ready: 0, unacked: 1 });
      await drained(manager);
      await queueHolds(manager, { ready: 1, unacked: 0 });
    },
  );

  test.runIf(isTurnOf(2))("ends in order when it gets SIGTERM in the middle of it", async () => {
    const { manager, service, file, keyOf } = await bornService();
    await running(manager, 2, { file, stopWhenFile: `${file}.stop` });
    await manager.control({ kind: "Drain" }, keyOf(1));
    await manager.waitFor("ServiceAlive", ({ draining }) => draining);
    const ended = service.kill("SIGTERM");
    await service.waitForLine((line) => line.includes('"why":"SIGTERM"'));
    writeFileSync(`${file}.stop`, "");
    expect(await ended).toEqual({ code: 0, signal: null });
    await manager.waitFor("ServiceDied");
    expect(manager.events().at(-1)?.kind).toBe("ServiceDied");
    expect(ofKind(manager, "RunReleased")).toHaveLength(2);
    await queueHolds(manager, { ready: 2, unacked: 0 });
  });

  test.runIf(isTurnOf(2))("still stops what it is told to stop", async () => {
    const { manager, file, keyOf } = await bornService();
    const { observerId } = await manager.start({ params: { file, stopWhenFile: `${file}.stop` } });
    await manager.waitFor("RunStarted");
    await manager.control({ kind: "Drain" }, keyOf(1));
    await manager.waitFor("ServiceAlive", ({ draining }) => draining);
    await manager.control({ kind: "StopObservers", targets: [{ observerId, revision: 1 }] });
    await manager.control({ kind: "ReportInventory" }, keyOf(1));
    await manager.waitFor("Inventory"); // it has been told to stop by then
    writeFileSync(`${file}.stop`, "");
    expect(await manager.waitFor("RunStopped")).toMatchObject({ observerId, reason: "stopped" });
    await queueHolds(manager, { total: 0 });
  });
});

test.runIf(isTurnOf(0))(
  "a service says that it drains when it gets SIGTERM, before its observers have stopped",
  async () => {
    const { manager, service, file } = await bornService();
    await running(manager, 1, { file, stopDelayMs: 500 });
    expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await manager.waitFor("ServiceDied");
    const kinds = manager
      .events()
      .map((event) => (event.kind === "ServiceAlive" && event.draining ? "draining" : event.kind));
    expect(kinds.indexOf("draining")).toBeGreaterThan(-1);
    expect(kinds.indexOf("draining")).toBeLessThan(kinds.indexOf("RunReleased"));
  },
);

describe("a handler that does not stop by SIGTERM, beside a collector of traces that never answers,", () => {
  /** By its own time, less the farewell's: 1.5 s. */
  const STOP_TIMEOUT_MS = "2000";

  async function handedOver(slots: string) {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const { manager, service, file } = await bornService({
      env: {
        STOP_TIMEOUT_MS,
        SLOTS: slots,
        OBSERVERS_DIR: "test/fixtures/traced-observers",
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      },
    });
    // Of the same slot: it has a span to send.
    const traced = await manager.start({ type: "traced", params: { secret: "none" } });
    const { observerId } = await manager.start({ params: { file, ignoreAbort: true } });
    await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(2));
    const heir = startObserverService(manager.amqpUrl, { name: "heir" });
    onTestFinished(async () => {
      await heir.kill();
      silent.close();
    });
    await manager.waitFor("ServiceBorn", (event) => event.pid === heir.pid);
    expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await eventually(() => expect(readStamps(file).some(({ serviceName }) => serviceName === "heir")).toBe(true));
    const released = ofKind(manager, "RunReleased").map((event) => event.observerId);
    return { file, released, observerId, traced: traced.observerId };
  }

  test.runIf(isTurnOf(0))("goes with its slot before another service has its message", async () => {
    const { file, released, observerId, traced } = await handedOver("1");
    expect(overlaps(readStamps(file))).toEqual([]);
    expect(released).toEqual([traced, observerId]);
  });

  test.runIf(isTurnOf(1))("goes without slots with its process, by which another service has its message", async () => {
    const { file, released, traced } = await handedOver("0");
    expect(overlaps(readStamps(file))).toEqual([]);
    expect(released).toEqual([traced]);
  });
});
