import { join } from "node:path";
import { type ControlMessage, type ServiceEvent, workQueueName } from "@unacked/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import { ASIDE_MS } from "../../services/observer-service/src/keeper/intake/shed.ts";
import { readStamps } from "../support/acts/stamps.ts";
import { shownConnection } from "../support/broker/connections.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { type ServiceOptions, type StandIn, standIn, startObserverService } from "../support/system/observer-service.ts";

const WORK = workQueueName("default");
const FILE = () => join(temporaryFolder("stamps"), "stamps.jsonl");

interface Shedder {
  manager: StandIn;
  /** Told to one service, in its first generation. */
  tell(service: string, message: ControlMessage): Promise<void>;
  start(name: string, options?: ServiceOptions): Promise<RunningProcess>;
}

async function pool(): Promise<Shedder> {
  const manager = await standIn();
  const services: RunningProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await manager.close();
  });
  const idOf = (name: string): string =>
    manager.batches.find(({ serviceName }) => serviceName === name)?.serviceId ?? expect.fail(`${name} has not been born`);
  return {
    manager,
    tell: (service, message) => manager.control(message, `${idOf(service)}.1`),
    start: async (name, { env, ...options } = {}) => {
      const service = startObserverService(manager.amqpUrl, { ...options, env: { SERVICE_NAME: name, ...env } });
      services.push(service);
      await eventually(() => expect(manager.batches.some(({ serviceName }) => serviceName === name)).toBe(true));
      await service.waitForEvent("consuming");
      return service;
    },
  };
}

const ofKind = <K extends ServiceEvent["kind"]>(manager: StandIn, kind: K) =>
  manager.events().filter((event): event is Extract<ServiceEvent, { kind: K }> => event.kind === kind);

/** What this service says it has started. */
const startedBy = ({ batches }: StandIn, name: string) =>
  batches
    .filter(({ serviceName }) => serviceName === name)
    .flatMap(({ events }) => events.flatMap((event) => (event.kind === "RunStarted" ? [event] : [])));

async function running({ manager }: Shedder, count: number, params: object) {
  await Promise.all(Array.from({ length: count }, () => manager.start({ params })));
  await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(count));
  return ofKind(manager, "RunStarted").map(({ observerId, runId, messageId, revision }) => ({
    observerId,
    runId,
    messageId,
    revision,
  }));
}

const shedding = (targets: Awaited<ReturnType<typeof running>>) => ({ kind: "ShedRuns" as const, targets });

describe("a service that is told to shed runs", () => {
  test("stops these alone, and others have them: each once more, on another service", async () => {
    const shedder = await pool();
    const { manager } = shedder;
    await shedder.start("giver");
    const file = FILE();
    const all = await running(shedder, 6, { file, stopDelayMs: 100 });
    await shedder.start("taker");
    await shedder.tell("giver", shedding(all.slice(0, 3)));
    await eventually(() => expect(startedBy(manager, "taker")).toHaveLength(3));
    expect(
      ofKind(manager, "RunReleased")
        .map(({ runId, moved }) => [runId, moved])
        .toSorted(),
    ).toEqual(
      all
        .slice(0, 3)
        .map(({ runId }) => [runId, true])
        .toSorted(),
    );
    expect(
      startedBy(manager, "taker")
        .map(({ observerId }) => observerId)
        .toSorted(),
    ).toEqual(
      all
        .slice(0, 3)
        .map(({ observerId }) => observerId)
        .toSorted(),
    );
    expect(readStamps(file).filter(({ kind }) => kind === "stop")).toHaveLength(3);
    // It consumes again.
    await eventually(async () => expect(await manager.management.queue(WORK)).toMatchObject({ consumers: 2, ready: 0 }));
  });

  test.runIf(isTurnOf(1))("stays aside until they have settled, however long they take to stop", async () => {
    const shedder = await pool();
    const { manager } = shedder;
    await shedder.start("giver");
    const all = await running(shedder, 6, { stopDelayMs: ASIDE_MS + 1_500 });
    await shedder.start("taker");
    await shedder.tell("giver", shedding(all));
    await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(12));
    expect(startedBy(manager, "taker")).toHaveLength(6);
  });

  test.runIf(isTurnOf(0))(
    "takes it back itself where nobody else could run it, at once and not after five seconds",
    async () => {
      const shedder = await pool();
      const { manager } = shedder;
      await shedder.start("alone");
      const [run] = await running(shedder, 1, {});
      const askedMs = performance.now();
      await shedder.tell("alone", shedding(run === undefined ? [] : [run]));
      await eventually(() => expect(ofKind(manager, "RunStarted")).toHaveLength(2));
      console.log(`back after ${Math.round(performance.now() - askedMs)} ms, where nobody else consumes`);
      expect(ofKind(manager, "RunStarted")[1]).toMatchObject({ messageId: run?.messageId, revision: run?.revision });
    },
  );

  test.runIf(isTurnOf(1))("answers for a run that it does not have; what is ending is left to it", async () => {
    const shedder = await pool();
    const { manager } = shedder;
    await shedder.start("giver");
    const [run] = await running(shedder, 1, { stopDelayMs: 500 });
    await shedder.start("taker");
    const gone = { ...(run as NonNullable<typeof run>), runId: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41" as never };
    await shedder.tell("giver", shedding([gone]));
    expect(await manager.waitFor("RunReleased", ({ runId }) => runId === gone.runId)).toMatchObject({
      reason: "lease-lost",
    });
    for (let i = 0; i < 3; i += 1) await shedder.tell("giver", shedding([run as NonNullable<typeof run>]));
    await eventually(() => expect(startedBy(manager, "taker")).toHaveLength(1));
    expect(ofKind(manager, "RunReleased").filter(({ runId }) => runId === run?.runId)).toHaveLength(1);
  });

  test.runIf(isTurnOf(2))("is no hindrance to a failover: whoever is aside takes what nobody else does", async () => {
    const shedder = await pool();
    const { manager } = shedder;
    await shedder.start("dies", { env: { WORKER_COUNT: "4" } });
    await running(shedder, 4, {});
    await shedder.start("aside");
    await eventually(async () => {
      await shedder.tell("aside", { kind: "StepAside" }); // for five seconds: it may have been back before anybody looked
      expect(await manager.management.queue(WORK)).toMatchObject({ consumers: 1 });
    });
    const { name } = await shownConnection(manager.management, "dies consumes");
    const died = performance.now();
    await manager.management.closeConnection(name);
    await eventually(() => expect(startedBy(manager, "aside").length + startedBy(manager, "dies").length).toBe(8));
    console.log(`all four run again ${Math.round(performance.now() - died)} ms after the cut`);
  });

  test.runIf(isTurnOf(0))(
    "fills up to its workers again, and never above them, as what it kept ends and more comes",
    async () => {
      const shedder = await pool();
      const { manager } = shedder;
      await shedder.start("giver", { env: { WORKER_COUNT: "6" } });
      const all = await running(shedder, 6, {});
      await shedder.start("taker", { env: { WORKER_COUNT: "3" } });
      await shedder.tell("giver", shedding(all.slice(0, 3)));
      await eventually(() => expect(startedBy(manager, "taker")).toHaveLength(3));
      // Three stay, which its new consumer does not count: as they end, others are to have their workers.
      await Promise.all(Array.from({ length: 6 }, () => manager.start()));
      await eventually(async () => expect(await manager.management.queue(WORK)).toMatchObject({ ready: 3, unacked: 9 }));
      await manager.control({
        kind: "StopObservers",
        targets: all.slice(3).map(({ observerId, revision }) => ({ observerId, revision })),
      });
      await eventually(async () => expect(await manager.management.queue(WORK)).toMatchObject({ ready: 0, unacked: 9 }));
    },
  );
});
