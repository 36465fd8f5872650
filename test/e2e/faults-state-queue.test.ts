import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ObserverLogs, ObserverView } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const STATE = "/queues/{vhost}/unacked.state";

describe("the state queue", () => {
  let system: System;
  let service: RunningProcess;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
    service = await system.startService("service-1", { workers: 20 });
  });
  afterEach(() => system.close());

  const readiness = async () => {
    const { url } = await service.waitForEvent("listening");
    const answer = await fetch(`${String(url)}/readyz`);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  it.runIf(isTurnOf(1))(
    "when somebody unbinds it under everybody's feet: the service whose event comes back binds it again, and nothing is lost",
    async () => {
      const end = join(temporaryFolder("end"), "now");
      const [kept, returning] = [
        (await system.createMany("kept", 3)) as ObserverView[],
        (await system.createMany("returning", 1, { returnWhenFile: end })) as [ObserverView],
      ];
      // A manager would bind it again within seconds; here the service has to.
      await system.managers[0]?.kill("SIGSTOP");
      await system.management.call("DELETE", "/bindings/{vhost}/e/unacked.events/q/unacked.state/state");
      writeFileSync(end, "");
      await service.waitForEvent("publish-failed");
      await system.managers[0]?.kill("SIGCONT");
      await system.untilStatus([returning[0].id], "Completed");
      expect(service.lines.find((line) => line.includes("publish-failed"))).toContain("No queue took the message");
      expect((await system.observers(kept.map((one) => one.id))).map((one) => one.epoch)).toEqual([1, 1, 1]);
      await system.check();
    },
  );

  it.runIf(isTurnOf(2))(
    "when it is deleted: it is declared again, and what was lost with it is made good by inventories",
    async () => {
      const before = await system.createMany("observer", 8);
      await system.management.deleteQueue("unacked.state");
      // Of a quorum queue, 3.10 goes on counting the consumers that went with its predecessor.
      await eventually(async () => expect((await system.management.queue("unacked.state")).consumers).toBeGreaterThan(0));
      await system.createMany("after", 2);
      expect((await system.observers(before.map((one) => one.id))).map((one) => one.epoch)).toEqual(before.map(() => 1));
      await system.check();
    },
  );

  it.runIf(isTurnOf(0))(
    "when it cannot be had at all: services say so and ack nothing; once it is back all is well",
    async () => {
      const survivor = service;
      const before = await system.createMany("observer", 4);
      const doomed = await system.startService("service-2");
      const moving = await system.createMany("moving", 8);
      expect(new Set(moving.map((one) => one.service?.name))).toContain("service-2");
      const end = join(temporaryFolder("end"), "now");
      const returning = (await system.createMany("returning", 1, { returnWhenFile: end })) as [ObserverView];
      await system.managers[0]?.kill("SIGKILL");
      await doomed.kill("SIGKILL");
      // Its runs are told to a queue that then goes, with something of another kind in its place.
      await eventually(() => expect(system.actingByPid().get(survivor.pid)?.size).toBe(13));
      await eventually(async () => expect((await readiness()).body.eventsWaiting).toBe(0));
      await system.management.deleteQueue("unacked.state");
      await system.management.call("PUT", STATE, { durable: true, arguments: {} });
      writeFileSync(end, "");

      await eventually(
        async () => {
          const { status, body } = await readiness();
          expect(status).toBe(503);
          expect(body.eventsWaiting).toBeGreaterThan(0);
          expect(body.publisher).toMatchObject({
            up: false,
            lastLoss: { kind: "setup-failed", remedy: expect.stringContaining("exists with other arguments") },
          });
        },
        { timeoutMs: 15_000 },
      );
      await service.waitForEvent("publish-failed");
      await eventually(() => expect(system.actingByPid().get(survivor.pid)?.has(returning[0].id)).toBe(false));
      // A quorum queue tells its counts every few seconds.
      await eventually(async () => {
        expect(await system.management.queue("unacked.work.default")).toMatchObject({ unacked: 13, ready: 0 });
      });

      await system.management.deleteQueue("unacked.state");
      await system.startManager();
      await system.untilStatus([returning[0].id], "Completed");
      await system.untilStatus(
        [...before, ...moving].map((one) => one.id),
        "Processing",
      );
      // They were Processing on the other already: the survivor's word for them may still be on its way.
      await eventually(async () => {
        const after = await system.observers([...before, ...moving].map((one) => one.id));
        expect(new Set(after.map((one) => one.service?.name))).toEqual(new Set(["service-1"]));
      });
      await system.check();
    },
  );
});

describe("the exchanges of orders", () => {
  it.runIf(isTurnOf(1))(
    "when somebody deletes them: a living service is not given up for long, and a stop arrives all the same",
    async () => {
      const system = await freshSystem();
      onTestFinished(() => system.close());
      await system.startManager();
      const service = await system.startService("service-1");
      const before = await system.createMany("observer", 3);
      for (const exchange of ["unacked.control", "unacked.service"])
        await system.management.call("DELETE", `/exchanges/{vhost}/${exchange}`);
      const [first] = before as [ObserverView];
      expect((await system.call("DELETE", `/api/v1/observers/${first.id}`)).status).toBe(202);
      await system.untilStatus([first.id], "Deleted", 30_000);
      expect(service.exit()).toBeNull();
      expect((await system.observers(before.map((one) => one.id))).map((one) => one.epoch)).toEqual([1, 1, 1]);
      await system.check();
    },
  );

  it.runIf(isTurnOf(2))(
    "when that of answers is deleted: the lines of an observer can be read again within seconds",
    async () => {
      const system = await freshSystem();
      onTestFinished(() => system.close());
      await system.startManager();
      await system.startService("service-1");
      await system.createMany("observer", 1);
      const read = () => system.call<ObserverLogs>("GET", "/api/v1/observers/observer-0/logs");
      expect((await read()).status).toBe(200);
      // The manager declares it again every few seconds.
      await eventually(async () => {
        await system.management.call("DELETE", "/exchanges/{vhost}/unacked.replies");
        expect((await read()).status).toBe(503);
      });
      await eventually(async () => expect((await read()).status).toBe(200), { timeoutMs: 15_000 });
    },
  );
});
