import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventBatch, ObserverView, RunView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const HEARTBEAT_MS = 4_000;
/** The lease of a service that cannot prove its life ends this long after its last proof. */
const DEADLINE_MS = 1.5 * HEARTBEAT_MS;
/** The broker gives its messages away 2 to 3 heartbeats after it last heard of it; then the books have to follow. */
const TAKEN_OVER_MS = 6 * HEARTBEAT_MS;
/** A timer that was due while the process slept fires once as it wakes, before it can look at the clock; its next may, too. */
const MAX_LATE_ACTS = 2;

let system: System;
beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
});
afterAll(() => system.close());

const idsOf = (observers: ObserverView[]) => observers.map((one) => one.id);

/**
 * A service with observers that await what they emit, on a wire of its own, and then another that could take them all; in
 * a pool of their own.
 */
async function holderAndHeir(pool: string, count: number, params: object = {}, env: object = {}) {
  const wire = await system.wire();
  const holder = await system.startService(`${pool}-holder`, { wire, env: { POOL: pool, ...env } });
  const observers = await system.createMany(pool, count, { emitEveryMs: 50, ...params }, { pool });
  const heir = await startHeir(pool);
  return { wire, holder, heir, observers };
}

const startHeir = (pool: string) => system.startService(`${pool}-heir`, { env: { POOL: pool } });

/** Measures and prints how long after `sinceNs` the old runs went on, and when the new ones were at work. */
async function untilTakenOver(observers: ObserverView[], heir: RunningProcess, sinceNs: bigint): Promise<void> {
  await eventually(
    () => {
      const acting = system.actingByPid().get(heir.pid);
      expect(observers.filter((one) => !acting?.has(one.id)).map((one) => one.name)).toEqual([]);
    },
    { timeoutMs: TAKEN_OVER_MS, what: "the heir running everything" },
  );
  const msSince = (ns: bigint) => Math.max(0, Math.round(Number(ns - sinceNs) / 1e6));
  const ids = new Set<string>(idsOf(observers));
  const acts = system.acts().filter((act) => ids.has(act.observerId) && act.kind !== "stop");
  const lastOld = acts.findLast((act) => act.pid !== heir.pid)?.monotonicNs ?? sinceNs;
  const starts = acts.filter((act) => act.pid === heir.pid && act.kind === "start").map((act) => msSince(act.monotonicNs));
  console.log(
    `${heir.name}: old runs acted for ${msSince(lastOld)} ms more, run elsewhere after ${Math.min(...starts)} to ${Math.max(...starts)} ms`,
  );
}

/** As the books have it: the run that each of them is in now. */
async function untilListedOn(heir: RunningProcess, observers: ObserverView[]): Promise<ObserverView[]> {
  return await eventually(
    async () => {
      const now = await system.observers(idsOf(observers));
      expect(now.map((one) => [one.status, one.service?.name])).toEqual(now.map(() => ["Processing", heir.name]));
      return now;
    },
    { what: "all Processing on the heir" },
  );
}

async function untilBornAgain(service: RunningProcess): Promise<void> {
  await eventually(
    async () => {
      const now = (await system.listServices()).find((one) => one.pid === service.pid);
      expect(now).toMatchObject({ state: "Alive", generation: 2 });
    },
    { timeoutMs: TAKEN_OVER_MS, what: "its second generation in the books" },
  );
}

/** A second queue for everything that services say, as evidence of what arrived. */
async function tapEvents(): Promise<() => Promise<EventBatch[]>> {
  const batches: EventBatch[] = [];
  await system.management.call("PUT", "/queues/{vhost}/tap", { durable: true });
  await system.management.call("POST", "/bindings/{vhost}/e/unacked.events/q/tap", { routing_key: "state" });
  return async () => {
    const found = await system.management.get("tap", { count: 1_000 });
    batches.push(...found.map(({ body }) => JSON.parse(body.toString()) as EventBatch));
    return batches;
  };
}

// Most of each is waiting for the broker's patience to end, so they wait side by side.
describe.runIf(isTurnOf(1)).concurrent("a host that is silent for longer than the broker waits", () => {
  it("by a partition (blackhole both ways, no reset): the old copy stops before the new one starts; its late events change nothing (fault 5)", async () => {
    const { wire, holder, heir, observers } = await holderAndHeir("partition", 5);
    const batches = await tapEvents();
    const cutNs = process.hrtime.bigint();
    wire.blackhole();
    await untilTakenOver(observers, heir, cutNs);
    const taken = await untilListedOn(heir, observers);

    await wire.heal();
    await eventually(async () => {
      const late = (await batches()).filter((batch) => batch.serviceName === "partition-holder");
      const released = late.flatMap((batch) => batch.events.filter((event) => event.kind === "RunReleased"));
      expect(new Set(released.map((event) => event.runId))).toEqual(new Set(observers.map((one) => one.currentRunId)));
    });
    await untilBornAgain(holder);
    const after = await system.observers(idsOf(observers));
    expect(after.map((one) => [one.status, one.currentRunId, one.epoch])).toEqual(
      taken.map((one) => ["Processing", one.currentRunId, 2]),
    );
    expect(holder.exit()).toBeNull();
    await system.check({ pool: "partition", maxOverlapMs: 0 });
    expect(system.reportOverlap("partition", observers)).toBe(0);
  }, 240_000);

  it("by SIGSTOP: an old run acts twice at most when it wakes, a stop meanwhile is not lost, and the books are right (fault 6)", async () => {
    const { holder, heir, observers } = await holderAndHeir("frozen", 6);
    const [stopped, ...others] = observers as [ObserverView, ...ObserverView[]];
    const frozenNs = process.hrtime.bigint();
    await holder.kill("SIGSTOP");
    expect((await system.call("DELETE", `/api/v1/observers/${stopped.id}`)).status).toBe(202);
    await untilTakenOver(others, heir, frozenNs);
    // The heir was told as well, and refuses the message when it comes.
    await system.untilStatus([stopped.id], "Deleted");
    expect(system.acts().filter((act) => act.observerId === stopped.id && act.kind === "start")).toHaveLength(1);
    await holder.kill("SIGCONT");
    system.mayStartOnceMore(stopped.id); // its old run wakes, and acts before it can look at the clock
    await untilBornAgain(holder);
    await untilListedOn(heir, others);
    expect(holder.exit()).toBeNull();
    await system.check({ pool: "frozen", maxOverlapMs: 0, maxLateActs: MAX_LATE_ACTS });
    system.reportOverlap("SIGSTOP", others, MAX_LATE_ACTS);
  }, 240_000);

  it.each([
    ["after", "socket-late"],
    ["before", "socket-early"],
  ])(
    "by SIGSTOP with a delivery that waits in its socket, waking %s the broker gives up: it is run once, by the service that holds it (fault 6)",
    async (when, pool) => {
      const wire = await system.wire();
      const holder = await system.startService(`${pool}-holder`, { wire, env: { POOL: pool } });
      const [first] = (await system.createMany(pool, 1, {}, { pool })) as [ObserverView];
      const frozenNs = process.hrtime.bigint();
      await holder.kill("SIGSTOP");
      const { body: second } = await system.create(`${pool}-in-socket`, {}, { pool });
      const work = `unacked.work.${pool}`;
      await eventually(async () => expect(await system.management.queue(work)).toMatchObject({ ready: 0, unacked: 2 }), {
        what: "the delivery in the socket of the frozen process",
      });
      const heir = await startHeir(pool);
      if (when === "after") await untilTakenOver([first, second], heir, frozenNs);
      // Past its own deadline, and the broker still waits.
      else
        await eventually(() => expect(Number(process.hrtime.bigint() - frozenNs) / 1e6).toBeGreaterThan(DEADLINE_MS + 300));
      await holder.kill("SIGCONT");
      await untilBornAgain(holder);
      if (when === "after") await untilListedOn(heir, [first, second]);
      else await system.untilStatus([first.id, second.id], "Processing");
      const { body } = await system.call<{ items: RunView[] }>("GET", `/api/v1/observers/${second.id}/runs`);
      expect(body.items.filter((run) => run.state !== "Ended")).toHaveLength(1);
      expect(system.acts().filter((act) => act.observerId === second.id && act.kind === "start")).toHaveLength(1);
      await system.check({ pool, maxOverlapMs: 0, maxLateActs: MAX_LATE_ACTS });
      system.reportOverlap(
        `SIGSTOP, delivery in the socket, awake ${when} the broker gave up`,
        [first, second],
        MAX_LATE_ACTS,
      );
    },
    240_000,
  );

  it("by an observer that blocks the event loop for three heartbeats, without slots: no duplicate survives (fault 7)", async () => {
    const file = join(temporaryFolder("block"), "block");
    const params = { blockLoopMs: 3 * HEARTBEAT_MS, blockWhenFile: file };
    const { holder, heir, observers } = await holderAndHeir("blocked", 5, params, { SLOTS: "0" });
    writeFileSync(file, "");
    await holder.waitForEvent("lease-lost");
    await untilBornAgain(holder);
    await system.untilStatus(idsOf(observers), "Processing");
    expect([holder.exit(), heir.exit()]).toEqual([null, null]);
    await system.check({ pool: "blocked", maxOverlapMs: 0, maxLateActs: MAX_LATE_ACTS });
    system.reportOverlap("event loop blocked", observers, MAX_LATE_ACTS);
  }, 240_000);
});
