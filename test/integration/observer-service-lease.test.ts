import { join } from "node:path";
import { workQueueName } from "@unacked/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type StandIn, standIn, startObserverService } from "../support/observer-service.ts";
import type { RunningProcess } from "../support/processes.ts";
import { temporaryFolder } from "../support/servers.ts";
import { overlaps, readStamps, type Stamp } from "../support/stamps.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";

const HEARTBEAT_MS = 2_000;
const OBSERVERS = 5;
const env = { HEARTBEAT_S: String(HEARTBEAT_MS / 1_000) };

/** One service behind a wire that can be cut runs every observer; another has free workers for all of them. */
async function holderAndHeir(params: object = {}) {
  const manager = await standIn();
  const wire = await tcpProxy(manager.amqpUrl);
  const file = join(temporaryFolder("stamps"), "stamps.jsonl");
  const holder = startObserverService(wire.through(manager.amqpUrl), { name: "holder", env });
  const services = [holder];
  onTestFinished(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await manager.close();
    await wire.close();
  });
  await manager.waitFor("ServiceBorn");
  await Promise.all(Array.from({ length: OBSERVERS }, () => manager.start({ params: { file, ...params } })));
  await eventually(() => expect(actingFor(readStamps(file), "holder")).toBe(OBSERVERS));
  const heir = startObserverService(manager.amqpUrl, { name: "heir", env });
  services.push(heir);
  await manager.waitFor("ServiceBorn", (event) => event.pid === heir.pid);
  return { manager, wire, holder, heir, file };
}

const actingFor = (stamps: readonly Stamp[], service: string): number =>
  new Set(stamps.filter((stamp) => stamp.serviceName === service && stamp.kind === "act").map((stamp) => stamp.observerId))
    .size;

const heirRunsAll = (file: string) =>
  eventually(() => expect(actingFor(readStamps(file), "heir")).toBe(OBSERVERS), {
    timeoutMs: 10 * HEARTBEAT_MS,
    what: "the heir running everything",
  });

function longestOverlapMs(file: string): number {
  return Math.max(0, ...overlaps(readStamps(file)).map((overlap) => overlap.ms));
}

const workIs = (manager: StandIn, counts: object) =>
  eventually(async () => expect(await manager.management.queue(workQueueName("default"))).toMatchObject(counts));

describe("a partition", () => {
  test.each(["both", "to-client", "to-server"] as const)(
    "by blackhole (%s): the old copy stops before the new one starts",
    async (direction) => {
      const { wire, file, holder } = await holderAndHeir();
      wire.blackhole(direction);
      // By its own clock: a heartbeat that does not come shows later, and a one-way cut not at all.
      expect(await holder.waitForEvent("lease-lost")).toMatchObject({ why: "deadline-passed" });
      await heirRunsAll(file);
      expect(longestOverlapMs(file)).toBe(0);
      expect(holder.exit()).toBeNull();
    },
  );

  test("with a handler that does not stop: its process ends before the new one starts", async () => {
    const { wire, file, holder } = await holderAndHeir({ stopDelayMs: 60_000 });
    wire.blackhole();
    await heirRunsAll(file);
    expect(longestOverlapMs(file)).toBe(0);
    expect((await holder.exited).code).toBe(1);
  });

  test("that heals leaves the holder a service that takes observers again", async () => {
    const { manager, wire, file, holder } = await holderAndHeir();
    wire.blackhole();
    await heirRunsAll(file);
    await wire.heal();
    await manager.waitFor(
      "ServiceBorn",
      (event) => event.pid === holder.pid && bornTimes(manager, holder) > 1,
      10 * HEARTBEAT_MS,
    );
    expect(longestOverlapMs(file)).toBe(0);
    await workIs(manager, { ready: 0, unacked: OBSERVERS });
  });
});

describe("a process that is stopped (SIGSTOP) for longer than the broker waits", () => {
  test("does next to nothing for its old runs when it wakes", async () => {
    const { manager, holder, file } = await holderAndHeir();
    await holder.kill("SIGSTOP");
    await heirRunsAll(file);
    const before = readStamps(file).filter((stamp) => stamp.serviceName === "holder").length;
    await holder.kill("SIGCONT");
    await manager.waitFor(
      "ServiceBorn",
      (event) => event.pid === holder.pid && bornTimes(manager, holder) > 1,
      10 * HEARTBEAT_MS,
    );
    const after = readStamps(file)
      .filter((stamp) => stamp.serviceName === "holder")
      .slice(before);
    const actsOfRun = (runId: string) => after.filter((stamp) => stamp.runId === runId && stamp.kind === "act").length;
    for (const { runId } of after) expect(actsOfRun(runId)).toBeLessThanOrEqual(2);
    await workIs(manager, { ready: 0, unacked: OBSERVERS });
  });
});

const bornTimes = (manager: StandIn, { pid }: RunningProcess): number =>
  manager.events().filter((event) => event.kind === "ServiceBorn" && event.pid === pid).length;
