import { join } from "node:path";
import type { AuditPage, BalanceView, ObserverView, ProblemDetails, ServiceView, TimelinePage } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { ROOT, type RunningProcess } from "../support/processes/processes.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

let system: System;
beforeEach(async () => {
  system = await freshSystem();
});
afterEach(() => system.close());

const balance = async (): Promise<BalanceView> =>
  (await system.call<BalanceView>("GET", "/api/v1/pools/default/balance")).body;

const running = ({ services }: BalanceView) => Object.fromEntries(services.map((one) => [one.name, one.running]));

const order = (service: string, what: "cordon" | "uncordon" | "drain") =>
  system.call<ServiceView & ProblemDetails>("POST", `/api/v1/services/${service}/${what}`);

/** Managers have to have seen each other, and with that what all of them know. */
const untilMovable = () =>
  eventually(async () => expect((await order("service-1", "uncordon")).status).toBe(202), {
    timeoutMs: 30_000,
    what: "that cordons are taken",
  });

const manager = (): RunningProcess => system.managers.at(-1) ?? expect.fail("there is no manager");
const workQueue = () => system.management.queue("unacked.work.default");

/**
 * Its consuming connection, which it builds anew. The broker may have just lost it by itself, on a machine that stood still, and
 * lists it for a while all the same: to close that one does nothing, so it is over only when the service says that it lost it.
 */
async function cutOff(service: string): Promise<void> {
  const losses = () => system.service(service).lines.filter((line) => line.includes('"event":"lease-lost"')).length;
  const lossesBefore = losses();
  await eventually(
    async () => {
      const connections = await system.management.connections();
      const consumes = connections.find(({ clientName }) => clientName.startsWith(`${service} consumes`));
      if (consumes !== undefined) await system.management.closeConnection(consumes.name);
      expect(losses(), `those connected: ${JSON.stringify(connections)}`).toBeGreaterThan(lossesBefore);
    },
    { what: `that ${service} is cut off` },
  );
}

const rebalance = (body: object = {}) => system.call<BalanceView>("POST", "/api/v1/pools/default/rebalance", body);

const untilOver = () =>
  eventually(
    async () => {
      const now = await balance();
      expect(now.rebalance?.outcome, JSON.stringify(now)).not.toBeNull();
      return now;
    },
    { timeoutMs: 60_000, what: "that the rebalance is over" },
  );

describe("a pool that is not even", () => {
  test.runIf(isTurnOf(0))(
    "says who has too many; a dry run says what would be moved and moves nothing; a rebalance spreads them, each by its own run alone",
    async () => {
      await system.startManager();
      await system.startService("service-1", { workers: 40 });
      const ids = (await system.createMany("observer", 24, { stopDelayMs: 20 })).map(({ id }) => id);
      await system.startService("service-2", { workers: 20 });
      await system.startService("service-3", { workers: 20 });
      await untilMovable();

      const { status, body } = await rebalance({ dryRun: true });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        moves: 12,
        uneven: "service-1 runs 24, and its share is 12",
        mode: "manual",
        rebalance: null,
      });
      expect(body.services.map(({ name, share, leaving }) => [name, share, leaving])).toEqual([
        ["service-1", 12, 12],
        ["service-2", 6, 0],
        ["service-3", 6, 0],
      ]);
      expect(running(await balance())).toEqual({ "service-1": 24, "service-2": 0, "service-3": 0 });

      expect(await rebalance()).toMatchObject({ status: 202, body: { rebalance: { planned: 12, endedAt: null } } });
      const over = await untilOver();
      expect(over.rebalance).toMatchObject({ moved: 12, planned: 12, outcome: "even", waits: null });
      expect(running(over)).toEqual({ "service-1": 12, "service-2": 6, "service-3": 6 });
      await system.check();

      // Each is moved once, and says so; all others have had one run alone.
      const now = await system.observers(ids);
      expect(now.map(({ runNumber }) => runNumber).toSorted()).toEqual([...Array(12).fill(1), ...Array(12).fill(2)]);
      const moved = now.find(({ runNumber }) => runNumber === 2) as ObserverView;
      const { items } = (await system.call<TimelinePage>("GET", `/api/v1/observers/${moved.id}/timeline`)).body;
      expect(JSON.stringify(items)).toContain('"moved"');
      const audit = (await system.call<AuditPage>("GET", "/api/v1/audit?action=pool.rebalance")).body;
      expect(audit.items).toMatchObject([{ action: "pool.rebalance", targets: [{ kind: "pool", id: "default" }] }]);
      expect(await rebalance()).toMatchObject({ status: 200, body: { moves: 0, uneven: null } });
    },
  );

  test.runIf(isTurnOf(2))(
    "is spread although an observer waits whose type none of its services has any more; that pool is told of as uneven, too",
    async () => {
      await system.startManager();
      const admitted = join(ROOT, compiled("admitted"));
      await system.startService("service-0", { env: { OBSERVERS_DIR: admitted } });
      const body = { name: "orphan", type: "counter", params: { file: system.actsFile } };
      expect((await system.call("POST", "/api/v1/observers", body)).status).toBe(201);
      await system.untilStatus(["orphan"], "Processing");
      await system.startService("service-1", { workers: 40 });
      await system.service("service-0").kill("SIGKILL");
      await eventually(async () => expect((await system.get("orphan")).lastError?.name).toBe("UnknownType"), {
        timeoutMs: 30_000,
      });
      await system.createMany("observer", 20);
      await system.startService("service-2", { workers: 40 });
      await untilMovable();
      const codes = async () => (await system.stats()).warnings.map(({ code }) => code);
      await eventually(async () =>
        expect(await codes()).toEqual(expect.arrayContaining(["type-not-served", "pool-uneven"])),
      );
      expect(await balance()).toMatchObject({ moves: 10, waits: null });
      await rebalance();
      const over = await untilOver();
      expect(over.rebalance).toMatchObject({ moved: 10, outcome: "even" });
      expect(running(over)).toEqual({ "service-1": 10, "service-2": 10 });
    },
  );

  test.runIf(isTurnOf(1))(
    "a manager that dies in the middle leaves the rest to the next; a service that dies in it loses nothing",
    async () => {
      await system.startManager();
      await system.startService("service-1", { workers: 60 });
      await system.createMany("observer", 30);
      await system.startService("service-2", { workers: 60 });
      await untilMovable();
      expect((await rebalance()).body.rebalance).toMatchObject({ planned: 15 });
      await eventually(async () => expect((await balance()).rebalance?.moved).toBeGreaterThan(0));
      await manager().kill("SIGKILL");
      await system.startManager();
      await eventually(async () => expect((await balance()).rebalance?.moved).toBeGreaterThan(5), { timeoutMs: 60_000 });
      await system.service("service-2").kill("SIGKILL");
      await system.startService("service-2", { workers: 60 });
      await untilOver();
      await system.check();
      await rebalance();
      expect(running(await untilOver())).toEqual({ "service-1": 15, "service-2": 15 });
      await system.check();
    },
  );

  test.runIf(isTurnOf(2))("can be cancelled under way; one under way goes on when it is asked for again", async () => {
    await system.startManager();
    await system.startService("service-1", { workers: 60 });
    await system.createMany("observer", 40);
    await system.startService("service-2", { workers: 60 });
    await untilMovable();
    const { rebalance: first } = (await rebalance()).body;
    expect((await rebalance()).body.rebalance?.id).toBe(first?.id);
    await system.call("DELETE", "/api/v1/pools/default/rebalance");
    expect((await balance()).rebalance).toMatchObject({ id: first?.id, outcome: "cancelled" });
    await system.check();
  });
});

describe("an observer", () => {
  test("is moved to another service by hand, and not where no other could run it", async () => {
    await system.startManager();
    await system.startService("service-1");
    const { body: one } = await system.create("moves", { stopDelayMs: 50 });
    await eventually(async () => expect((await system.observers([one.id]))[0]?.status).toBe("Processing"));
    await untilMovable();
    const move = () => system.call<ObserverView & ProblemDetails>("POST", `/api/v1/observers/${one.id}/move`);
    expect(await move()).toMatchObject({ status: 409, body: { code: "nowhere-to-move" } });
    await system.startService("service-2");
    expect((await move()).status).toBe(202);
    await eventually(async () => expect((await system.observers([one.id]))[0]?.service?.name).toBe("service-2"));
    await system.call("POST", `/api/v1/observers/${one.id}/pause`);
    await eventually(async () => expect(await move()).toMatchObject({ status: 409, body: { code: "not-movable" } }));
    await system.call("POST", `/api/v1/observers/${one.id}/resume`);
    await system.check();
  });
});

describe("a service that is cordoned", () => {
  test.runIf(isTurnOf(0))(
    "runs on what it runs and takes nothing; uncordoned it takes work again; a drain is taken back likewise",
    async () => {
      await system.startManager();
      await system.startService("service-1", { workers: 30 });
      const ids = (await system.createMany("observer", 6)).map(({ id }) => id);
      await untilMovable();
      expect(await order("service-1", "cordon")).toMatchObject({
        status: 202,
        body: { cordoned: true, draining: false, free: 0 },
      });
      await eventually(async () => expect(await workQueue()).toMatchObject({ consumers: 0 }));
      const health = String((await system.service("service-1").waitForEvent("listening")).url);
      expect(await (await fetch(`${health}/readyz`)).json()).toMatchObject({
        ready: false,
        cordoned: true,
        draining: false,
      });
      expect((await scrape(health)).value("unacked_service_cordoned")).toBe(1); // of which no alert is made
      await system.startService("service-2", { workers: 30 });
      const more = (await system.createMany("later", 6)).map(({ id }) => id);
      const placesOf = async (of: string[]) => new Set((await system.observers(of)).map(({ service }) => service?.name));
      await eventually(async () => expect(await placesOf(more)).toEqual(new Set(["service-2"])));
      expect(await placesOf(ids)).toEqual(new Set(["service-1"]));
      await system.service("service-2").kill("SIGKILL");
      await eventually(async () =>
        expect((await system.observers(more)).map(({ status }) => status)).toEqual(more.map(() => "Redistributing")),
      );

      expect(await order("service-1", "uncordon")).toMatchObject({ status: 202, body: { cordoned: false } });
      await eventually(async () => expect(await placesOf([...ids, ...more])).toEqual(new Set(["service-1"])), {
        timeoutMs: 30_000,
      });
      await system.check();

      await order("service-1", "drain");
      await eventually(async () => expect((await system.listServices())[0]).toMatchObject({ drained: true }), {
        timeoutMs: 30_000,
      });
      await order("service-1", "uncordon");
      await eventually(async () => expect(await placesOf([...ids, ...more])).toEqual(new Set(["service-1"])), {
        timeoutMs: 30_000,
      });
      expect((await system.listServices())[0]).toMatchObject({ draining: false, drained: false, cordoned: false });
      await system.check();
    },
  );

  test.runIf(isTurnOf(2))(
    "and has tasks that run for long takes no more of them, uncordoned, than it has workers free: none waits there while others could run it",
    async () => {
      const env = { OBSERVERS_DIR: join(ROOT, compiled("edge-tasks")), TASK_WORKERS: "3" };
      await system.startManager();
      await system.startService("service-1", { env });
      const tasks = new Tasks(system);
      const long = await tasks.createMany(3, { ms: 240_000 }, { type: "span" }); // `work` has a minute at most
      await Promise.all(long.map((id) => tasks.untilStatus(id, "Running")));
      await system.startService("service-2", { env });
      await untilMovable();
      await order("service-1", "cordon");
      await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).consumers).toBe(1));
      await order("service-1", "uncordon");
      await eventually(async () => expect((await system.listServices())[0]).toMatchObject({ cordoned: false }));
      const sends: number[] = [];
      for (let i = 0; i < 10; i += 1) {
        const { id } = await tasks.create();
        const { status, service } = await tasks.get(id, "10s");
        expect([status, service?.name]).toEqual(["Completed", "service-2"]);
        const [row] = await queryRows<{ sends: number }>(
          system.env["DATABASE_URL"] ?? "",
          `SELECT sends FROM ended_tasks WHERE id = '${id}'`,
        );
        sends.push(row?.sends ?? 0);
      }
      expect(sends).toEqual(sends.map(() => 1));
      // A worker that is free again counts again.
      await system.call("DELETE", `/api/v1/tasks/${long[0]}`);
      await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).consumers).toBe(2));
      const more = await tasks.createMany(4, { ms: 15_000 });
      await eventually(async () => expect((await tasks.list("status=Running")).items).toHaveLength(6));
      expect(more).toHaveLength(4);
    },
  );

  test.runIf(isTurnOf(1))(
    "stays so over a reconnect and a new manager; a full service whose cordon ends fills up to its workers",
    async () => {
      await system.startManager();
      await system.startService("service-1", { workers: 8 });
      const ids = (await system.createMany("observer", 5)).map(({ id }) => id);
      await untilMovable();
      await order("service-1", "cordon");
      await eventually(async () => expect(await workQueue()).toMatchObject({ consumers: 0 }));
      await cutOff("service-1");
      await manager().kill("SIGKILL");
      await system.startManager();
      await eventually(
        async () =>
          expect((await system.observers(ids)).map(({ status }) => status)).toEqual(ids.map(() => "Redistributing")),
        { timeoutMs: 30_000, what: "that what it lost is taken by nobody" },
      );
      expect((await system.listServices())[0]).toMatchObject({ cordoned: true });
      await eventually(async () => expect((await order("service-1", "uncordon")).status).toBe(202), { timeoutMs: 30_000 });
      await eventually(async () => expect((await system.listServices())[0]).toMatchObject({ free: 3 }), {
        timeoutMs: 30_000,
      });
      const more = (await system.createMany("later", 3)).map(({ id }) => id);
      await eventually(
        async () =>
          expect((await system.observers([...ids, ...more])).map(({ status }) => status)).toEqual(
            [...ids, ...more].map(() => "Processing"),
          ),
        { timeoutMs: 30_000 },
      );
      await system.check();
    },
  );
});
