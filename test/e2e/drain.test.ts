import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProblemDetails, ServiceView } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { diesAt } from "../support/processes/crash-point.ts";
import { startProcess } from "../support/processes/processes.ts";
import { CLI_FILE, runCli } from "../support/processes/unacked-cli.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
beforeEach(async () => {
  system = await freshSystem();
});
afterEach(() => system.close());

const drain = (service: string) => system.call<ServiceView & ProblemDetails>("POST", `/api/v1/services/${service}/drain`);

const serviceNow = async (name: string): Promise<ServiceView> => {
  const found = (await system.listServices()).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no service ${name} lives`);
  return found;
};

const untilDrained = (name: string, more: Partial<ServiceView> = {}) =>
  eventually(
    async () => {
      const now = await serviceNow(name);
      expect(now).toMatchObject({ draining: true, drained: true, running: 0, free: 0, ...more });
      return now;
    },
    { timeoutMs: 30_000, what: `${name} drained` },
  );

const untilAllOn = (ids: string[], name: string) =>
  eventually(
    async () => {
      const now = await system.observers(ids);
      expect(now.map((one) => [one.status, one.service?.name])).toEqual(ids.map(() => ["Processing", name]));
    },
    { timeoutMs: 20_000, what: `all on ${name}` },
  );

const surroundings = () => {
  const cwd = temporaryFolder("cli");
  return { cwd, env: { UNACKED_URL: system.url, UNACKED_TOKEN: "", XDG_CONFIG_HOME: join(cwd, "config") } };
};
const unacked = (...args: string[]) => runCli(args, surroundings());

describe("a service that is drained", () => {
  it.runIf(isTurnOf(0))(
    "is found on the command line by what it runs: the one that the fewest have to leave, and never the last",
    async () => {
      await system.startManager();
      await system.startService("service-1");
      await system.createMany("observer", 3);
      await system.startService("service-2");
      await system.createMany("later", 1);
      const runs = new Map((await system.listServices()).map(({ name, running }) => [name, running]));
      const least = (runs.get("service-1") ?? 0) <= (runs.get("service-2") ?? 0) ? "service-1" : "service-2";
      expect((await unacked("drain", "--least-loaded", "default", "--wait")).out).toContain(`service ${least} is drained`);
      const last = await unacked("drain", "--least-loaded");
      expect([last.code, last.err]).toEqual([
        1,
        expect.stringContaining("pool default has only one service that takes work"),
      ]);
      expect((await unacked("drain")).code).toBe(2);
    },
  );

  it("gives its observers to the others, each stopped first, and takes nothing although its workers are free", async () => {
    await system.startManager();
    await system.startService("service-1");
    const ids = (await system.createMany("observer", 8, { stopDelayMs: 100 })).map(({ id }) => id);
    await system.startService("service-2");

    expect(await drain("service-1")).toMatchObject({
      status: 202,
      body: { name: "service-1", draining: true, drained: false },
    });
    const { id } = await serviceNow("service-1");
    expect((await drain(id)).status).toBe(202);
    await untilAllOn(ids, "service-2");
    await untilDrained("service-1", { state: "Alive" });
    expect((await drain(id)).body).toMatchObject({ draining: true, drained: true });

    const { workers, survivesLargestService, warnings } = await system.stats();
    expect(workers).toMatchObject({ total: 10, free: 2, byPool: [{ services: 2, draining: 1, workers: 10, free: 2 }] });
    expect(survivesLargestService).toBe(false);
    expect(warnings.map(({ code }) => code)).not.toContain("all-draining");
    const more = (await system.createMany("later", 2)).map((one) => one.id);
    expect((await system.create("too-many")).body).toMatchObject({ code: "no-free-worker" });
    await untilAllOn(more, "service-2");
    expect(system.service("service-1").exit()).toBeNull();
    await system.check();
  });

  it.runIf(isTurnOf(2))(
    "is drained when no task runs on it any more either, and each is given back without an interruption",
    async () => {
      await system.startManager();
      await system.startService("service-1", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "2" } });
      const tasks = new Tasks(system);
      const ids = await tasks.createMany(2, { ms: 30_000 });
      await Promise.all(ids.map((id) => tasks.untilStatus(id, "Running")));
      expect(await drain("service-1")).toMatchObject({ status: 202, body: { drained: false } });
      // What is nearly over may end by itself: so long they run on.
      await eventually(async () => expect(await serviceNow("service-1")).toMatchObject({ drained: false, tasksLeft: 2 }));
      await untilDrained("service-1", { tasksLeft: 0 });
      await system.service("service-1").kill("SIGKILL");
      for (const id of ids) expect(await tasks.get(id)).toMatchObject({ status: "Sent", interruptions: 0 });
    },
  );

  it.runIf(isTurnOf(2))(
    "with nobody to take over leaves them waiting, in a pool that says so, and its next boot runs them",
    async () => {
      await system.startManager();
      await system.startService("service-1");
      const ids = (await system.createMany("observer", 3)).map(({ id }) => id);
      const { id } = await serviceNow("service-1");
      await drain("service-1");
      await system.untilStatus(ids, "Redistributing");
      await untilDrained("service-1");
      const { warnings } = await system.stats();
      expect(warnings).toMatchObject([
        { code: "all-draining", subject: "default", message: expect.stringContaining("3 observers wait") },
      ]);
      expect((await system.create("one-more")).body).toMatchObject({ code: "no-free-worker" });

      expect(await system.service("service-1").kill("SIGTERM")).toEqual({ code: 0, signal: null });
      await eventually(async () => expect((await drain(id)).body).toMatchObject({ status: 409, code: "service-ended" }));
      await system.startService("service-1");
      await untilAllOn(ids, "service-1");
      expect(await serviceNow("service-1")).toMatchObject({ draining: false, running: 3, free: 7 });
      await system.check();
    },
  );

  it.each(inTurn(["publish", "confirm"] as const))(
    "is drained all the same when the manager dies before the %s of its order",
    async (point) => {
      const port = Number(new URL((await system.startManager(), system.url)).port);
      await system.startService("service-1");
      const ids = (await system.createMany("observer", 3)).map(({ id }) => id);
      await system.startService("service-2");
      await system.managers[0]?.kill("SIGKILL");
      const doomed = await system.startManager({ port, env: diesAt(`${point} unacked.service`) });
      // It may die before the answer is out.
      await drain("service-1").catch(() => undefined);
      expect(await doomed.exited).toEqual({ code: null, signal: "SIGKILL" });
      await system.startManager({ port });
      await untilAllOn(ids, "service-2");
      await untilDrained("service-1");
      await system.check();
    },
  );

  it.runIf(isTurnOf(1))(
    "is told again when the order went to a connection that was gone, and stays drained over the next one",
    async () => {
      await system.startManager();
      const wire = await system.wire();
      await system.startService("service-1", { wire });
      const ids = (await system.createMany("observer", 3)).map(({ id }) => id);
      await wire.refuse();
      wire.reset();
      await system.service("service-1").waitForEvent("lease-lost");
      expect((await drain("service-1")).status).toBe(202);
      // The order came back; what is left of it is what the books remember.
      await eventually(async () => {
        const all = await system.listServices("?all=true");
        expect(all.find((one) => one.name === "service-1")).toMatchObject({ state: "Gone" });
      });
      await wire.heal();
      await untilDrained("service-1", { generation: 2, state: "Alive" });

      wire.reset();
      await untilDrained("service-1", { generation: 3 });
      const other = await system.startService("service-2");
      await untilAllOn(ids, "service-2");
      const more = (await system.createMany("later", 5)).map((one) => one.id);
      await untilAllOn(more, "service-2");
      await eventually(() => expect(system.actingByPid().get(other.pid)?.size).toBe(8));
      await system.check();
    },
  );

  it.runIf(isTurnOf(0))("stands in the way of no repair: what is lost of its pool is sent again", async () => {
    await system.startManager();
    await system.startService("service-1");
    const ids = (await system.createMany("observer", 2)).map(({ id }) => id);
    await drain("service-1");
    await untilDrained("service-1");
    await eventually(async () => expect((await system.management.queue("unacked.work.default")).ready).toBe(2));
    await system.management.purge("unacked.work.default");
    // Where all know markers, somebody has to take one: who has drained takes nothing.
    await system.startService("service-2");
    await eventually(async () => expect((await system.observers(ids)).map(({ revision }) => revision)).toEqual([2, 2]), {
      timeoutMs: 30_000,
      what: "the observers sent again",
    });
    await untilAllOn(ids, "service-2");
    await system.check();
  });
});

describe("unacked drain", () => {
  it.runIf(isTurnOf(1))("waits until nothing is left, or says what is; get services shows it", async () => {
    await system.startManager();
    // Without slots, so that nothing ends a handler that does not stop.
    await system.startService("service-1", { env: { STOP_TIMEOUT_MS: "500", SLOTS: "0" } });
    const mayStop = join(temporaryFolder("drain"), "may-stop");
    const ids = (await system.createMany("observer", 1, { stopWhenFile: mayStop })).map(({ id }) => id);
    await system.startService("service-2");
    const tooShort = await unacked("drain", "service-1", "--wait", "--timeout", "1s");
    expect(tooShort).toMatchObject({ code: 4, out: "service service-1 is draining\n" });
    expect(tooShort.err).toMatch(/^error: service service-1 is not drained within 1000 ms: 1 observers are still on it\. /);
    expect((await unacked("get", "services")).out).toMatch(/^service-1 +Alive,Draining +1 +10 /m);
    const drained = startProcess({
      file: CLI_FILE,
      args: ["drain", "service-1", "--wait", "--timeout", "30s"],
      ...surroundings(),
    });
    await drained.waitForLine((line) => line === "service service-1 is draining");
    writeFileSync(mayStop, "");
    expect(await drained.exited).toEqual({ code: 0, signal: null });
    expect(drained.lines).toEqual(["service service-1 is draining", "service service-1 is drained"]);
    expect((await unacked("get", "services")).out).toMatch(/^service-1 +Alive,Drained +0 +10 /m);
    expect(await unacked("drain", "service-1", "-o", "name")).toEqual({ code: 0, out: "service-1\n", err: "" });
    expect(await unacked("drain", "nobody")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: service nobody: No such service\./),
    });
    await untilAllOn(ids, "service-2");
    await system.check();
  });
});
