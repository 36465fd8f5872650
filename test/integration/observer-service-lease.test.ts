import { join } from "node:path";
import { workQueueName } from "@unacked/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import { readStamps } from "../support/acts/stamps.ts";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { holderAndHeir } from "../support/system/holder-and-heir.ts";
import { type StandIn, standIn, startObserverService } from "../support/system/observer-service.ts";

const HEARTBEAT_MS = 2_000;
const OBSERVERS = 5;
const TAKEN_OVER_MS = 10 * HEARTBEAT_MS;

/** Their handlers await what they emit, so that a cut finds them waiting for a confirm. */
const cutAndHeir = (params: object = {}, slots: "auto" | "0" = "auto") =>
  holderAndHeir({
    slots,
    heartbeatS: HEARTBEAT_MS / 1_000,
    observers: OBSERVERS,
    params: { emitEveryMs: 10, ...params },
  });

const workIs = (manager: StandIn, counts: object) =>
  eventually(async () => expect(await manager.management.queue(workQueueName("default"))).toMatchObject(counts));

describe("a partition", () => {
  test.each(inTurn(["both", "to-client", "to-server"] as const))(
    "by blackhole (%s): the old copy stops before the new one starts",
    async (direction) => {
      const { wire, holder, takenOver, longestOverlapMs } = await cutAndHeir();
      wire.blackhole(direction);
      // By its own clock: a heartbeat that does not come shows later, and a one-way cut not at all.
      expect(await holder.waitForEvent("lease-lost")).toMatchObject({ why: "deadline-passed" });
      await takenOver(TAKEN_OVER_MS);
      expect(longestOverlapMs()).toBe(0);
      expect(holder.exit()).toBeNull();
    },
  );

  // One that emitted would stop by the rejection of its emit.
  const STUBBORN = { stopDelayMs: 60_000, emitEveryMs: undefined };

  test.runIf(isTurnOf(0))("with a handler that does not stop: its slot ends before the new one starts", async () => {
    const { wire, holder, takenOver, longestOverlapMs } = await cutAndHeir(STUBBORN);
    wire.blackhole();
    await takenOver(TAKEN_OVER_MS);
    expect(longestOverlapMs()).toBe(0);
    expect(holder.exit()).toBeNull();
  });

  test.runIf(isTurnOf(1))(
    "with a handler that does not stop, and without slots: its process ends before the new one starts",
    async () => {
      const { wire, holder, takenOver, longestOverlapMs } = await cutAndHeir(STUBBORN, "0");
      wire.blackhole();
      await takenOver(TAKEN_OVER_MS);
      expect(longestOverlapMs()).toBe(0);
      expect((await holder.exited).code).toBe(1);
    },
  );

  test.runIf(isTurnOf(2))("that heals leaves the holder a service that takes observers again", async () => {
    const { manager, wire, holder, takenOver, longestOverlapMs } = await cutAndHeir();
    wire.blackhole();
    await takenOver(TAKEN_OVER_MS);
    await wire.heal();
    await manager.waitFor(
      "ServiceBorn",
      (event) => event.pid === holder.pid && bornTimes(manager, holder) > 1,
      TAKEN_OVER_MS,
    );
    expect(longestOverlapMs()).toBe(0);
    await workIs(manager, { ready: 0, unacked: OBSERVERS });
  });
});

describe.runIf(isTurnOf(0))("a service that was too slow to prove that it lives, and is alone", () => {
  test("takes all of it again, a few at first, and says so", async () => {
    const count = 60;
    const manager = await standIn();
    const wire = await tcpProxy(manager.amqpUrl);
    const file = join(temporaryFolder("stamps"), "stamps.jsonl");
    const env = { HEARTBEAT_S: String(HEARTBEAT_MS / 1_000) };
    const service = startObserverService(wire.through(manager.amqpUrl), { name: "slow", workers: 100, env });
    onTestFinished(async () => {
      await service.kill();
      await manager.close();
      await wire.close();
    });
    await manager.waitFor("ServiceBorn");
    await Promise.all(Array.from({ length: count }, () => manager.start({ params: { file } })));
    const begun = () => manager.events().filter(({ kind }) => kind === "RunStarted").length;
    await eventually(() => expect(begun()).toBe(count));
    wire.blackhole();
    await service.waitForEvent("intake-careful");
    await wire.heal();
    await manager.waitFor(
      "ServiceBorn",
      (event) => event.pid === service.pid && bornTimes(manager, service) > 1,
      TAKEN_OVER_MS,
    );
    const bornMs = performance.now();
    await eventually(() => expect(begun()).toBeGreaterThanOrEqual(2 * count), { timeoutMs: TAKEN_OVER_MS });
    console.log(`all ${count} again after ${Math.round(performance.now() - bornMs)} ms, in windows of 16 and more`);
    await workIs(manager, { ready: 0, unacked: count });
    expect(service.exit()).toBeNull();
  });
});

describe.runIf(isTurnOf(1))("a process that is stopped (SIGSTOP) for longer than the broker waits", () => {
  test("does next to nothing for its old runs when it wakes", async () => {
    const { manager, holder, file, takenOver } = await cutAndHeir();
    await holder.kill("SIGSTOP");
    await takenOver(TAKEN_OVER_MS);
    const before = readStamps(file).filter((stamp) => stamp.serviceName === "holder").length;
    await holder.kill("SIGCONT");
    await manager.waitFor(
      "ServiceBorn",
      (event) => event.pid === holder.pid && bornTimes(manager, holder) > 1,
      TAKEN_OVER_MS,
    );
    const after = readStamps(file)
      .filter((stamp) => stamp.serviceName === "holder")
      .slice(before);
    const actsOfRun = (runId: string) => after.filter((stamp) => stamp.runId === runId && stamp.kind === "act").length;
    for (const { runId } of after) expect(actsOfRun(runId)).toBeLessThanOrEqual(2);
    await workIs(manager, { ready: 0, unacked: OBSERVERS });
  });
});

describe.runIf(isTurnOf(2))("a process that is stopped for as long as its lease holds, and a moment more", () => {
  test("takes none of its observers for completed, which its slots have stopped meanwhile", async () => {
    const { manager, holder, file } = await cutAndHeir({ emitEveryMs: undefined });
    const stopped = (stamps: ReturnType<typeof readStamps>) =>
      new Set(
        stamps.filter(({ kind, serviceName }) => kind === "stop" && serviceName === "holder").map(({ runId }) => runId),
      );
    await holder.kill("SIGSTOP");
    await eventually(() => expect(stopped(readStamps(file)).size).toBe(OBSERVERS), {
      what: "the slots to stop all by themselves",
    });
    await holder.kill("SIGCONT");
    await manager.waitFor(
      "ServiceBorn",
      (event) => event.pid === holder.pid && bornTimes(manager, holder) > 1,
      TAKEN_OVER_MS,
    );
    await workIs(manager, { ready: 0, unacked: OBSERVERS });
    expect(manager.events().filter(({ kind }) => kind === "RunCompleted")).toEqual([]);
  });
});

const bornTimes = (manager: StandIn, { pid }: RunningProcess): number =>
  manager.events().filter((event) => event.kind === "ServiceBorn" && event.pid === pid).length;
