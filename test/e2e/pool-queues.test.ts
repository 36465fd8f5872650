import { connect } from "amqplib";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
afterEach(() => system.close());

const WAITS = { whenFull: "queue" };
const sessionsLost = (manager: RunningProcess) => manager.lines.filter((line) => line.includes("session is lost"));

async function warningsAbout(subject: string) {
  return (await system.stats()).warnings.filter((one) => one.subject === subject).map(({ code }) => code);
}

async function isThere(pool: string): Promise<boolean> {
  return (await system.management.queues()).some(({ name }) => name === `unacked.work.${pool}`);
}

describe("one pool's queue that cannot be declared harms that pool alone", () => {
  /** Asks for readiness all the while; answers what it was told otherwise than 200. */
  async function watchReadiness<T>(act: () => Promise<T>): Promise<number[]> {
    const others: number[] = [];
    const until = act().then(() => "done");
    while ((await Promise.race([until, new Promise((resolve) => setTimeout(resolve, 250))])) !== "done") {
      const { status } = await system.call("GET", "/readyz");
      if (status !== 200) others.push(status);
    }
    return others;
  }

  /** A service that runs observers dies, and the books hear of it as always. */
  async function killed(name: string) {
    const { pid } = system.service(name);
    await system.service(name).kill("SIGKILL");
    await eventually(async () =>
      expect((await system.listServices("?all=true")).find((one) => one.pid === pid)).toMatchObject({ state: "Gone" }),
    );
  }

  it.runIf(isTurnOf(0))(
    "with other arguments: it is named with its remedy, and declared when that was followed",
    async () => {
      system = await freshSystem();
      const manager = await system.startManager();
      await system.startService("a", { workers: 5 });
      await system.startService("b", { workers: 5 });
      await system.createMany("o", 3);
      const limited = { durable: true, arguments: { "x-max-length": 1_000 } };
      await system.management.call("PUT", "/queues/{vhost}/unacked.work.other", limited);
      const other = await system.startService("other", { env: { POOL: "other" }, untilKnown: false });
      const notReady = await watchReadiness(async () => {
        expect((await system.create("waiting", {}, { pool: "other", ...WAITS })).status).toBe(201);
        await killed("a");
        await system.createMany("p", 2);
        await manager.waitForEvent("queue-refused");
      });
      expect({ notReady, lost: sessionsLost(manager) }).toEqual({ notReady: [], lost: [] });
      expect(await warningsAbout("other")).toContain("queue-refused");
      const [warning] = (await system.stats()).warnings.filter(({ code }) => code === "queue-refused");
      expect(warning).toMatchObject({ subject: "other", remedy: expect.stringContaining("other arguments") });
      expect(warning?.message).toContain("inequivalent arg 'x-max-length' for queue 'unacked.work.other'");
      expect(await system.get("waiting")).toMatchObject({ status: "Created" });

      await other.kill("SIGTERM");
      await system.management.deleteQueue("unacked.work.other");
      await system.startService("other", { env: { POOL: "other" } });
      await system.untilStatus(["waiting"], "Processing", 40_000);
      await eventually(async () => expect(await warningsAbout("other")).not.toContain("queue-refused"));
      await system.check();
    },
    240_000,
  );

  it.runIf(isTurnOf(1))(
    "that refuses what is put into it: it is named, and what waits is sent when it takes it",
    async () => {
      system = await freshSystem();
      const manager = await system.startManager();
      await system.startService("a", { workers: 5 });
      const bound = {
        pattern: "^unacked\\.work\\.full$",
        definition: { "max-length": 1, overflow: "reject-publish" },
        "apply-to": "queues",
      };
      await system.management.call("PUT", "/policies/{vhost}/full", bound);
      for (const name of ["f-0", "f-1", "f-2"])
        expect((await system.create(name, {}, { pool: "full", ...WAITS })).status).toBe(201);
      await eventually(async () => expect(await warningsAbout("full")).toContain("queue-refused"));
      const [warning] = (await system.stats()).warnings.filter(({ code }) => code === "queue-refused");
      expect(warning).toMatchObject({
        message: expect.stringContaining("basic.nack"),
        remedy: expect.stringContaining("reject-publish"),
      });
      await system.createMany("o", 3);

      await system.management.call("DELETE", "/policies/{vhost}/full");
      await eventually(async () => expect(await warningsAbout("full")).not.toContain("queue-refused"));
      await system.startService("full", { env: { POOL: "full" } });
      await system.untilStatus(["f-0", "f-1", "f-2"], "Processing");
      expect(sessionsLost(manager)).toEqual([]);
      await system.check();
    },
    120_000,
  );

  it.runIf(isTurnOf(2))(
    "with a user who may not: it is forgotten when nobody wants the pool any more",
    async () => {
      system = await freshSystem();
      const url = new URL(system.env.AMQP_URL as string);
      const user = `few-${system.management.vhost}`;
      await system.management.call("PUT", `/users/${encodeURIComponent(user)}`, { password: "few", tags: "" });
      await system.management.call("PUT", `/permissions/{vhost}/${encodeURIComponent(user)}`, {
        configure: "^unacked\\.(?!work\\.mine$)",
        write: ".*",
        read: ".*",
      });
      [url.username, url.password] = [encodeURIComponent(user), "few"];
      const manager = await system.startManager({ env: { AMQP_URL: url.href } });
      await system.startService("a", { workers: 5 });
      const mine = await system.startService("mine", { env: { POOL: "mine" } });
      await system.createMany("o", 3);
      await eventually(async () => expect(await warningsAbout("mine")).toContain("queue-refused"));
      const [warning] = (await system.stats()).warnings.filter(({ code }) => code === "queue-refused");
      expect(warning).toMatchObject({ remedy: expect.stringContaining("Give the user that permission") });
      await mine.kill("SIGTERM");
      await eventually(async () => expect(await warningsAbout("mine")).toEqual([]));
      expect(sessionsLost(manager)).toEqual([]);
      await system.management.call("DELETE", `/users/${encodeURIComponent(user)}`);
    },
    240_000,
  );
});

describe("the queue of a pool that nobody wants any more", () => {
  it.runIf(isTurnOf(1))(
    "goes with the message of an observer that was deleted by force, and comes back with a service",
    async () => {
      system = await freshSystem();
      await system.startManager();
      expect((await system.create("left", {}, { pool: "lonely", ...WAITS })).status).toBe(201);
      await eventually(async () => expect((await system.management.queue("unacked.work.lonely")).ready).toBe(1));
      expect((await system.call("DELETE", "/api/v1/observers/left?force=true")).status).toBe(202);
      await eventually(async () => expect(await isThere("lonely")).toBe(false), { timeoutMs: 40_000 });

      const service = await system.startService("back", { env: { POOL: "lonely" } });
      await system.createMany("next", 2, {}, { pool: "lonely" });
      await system.check({ pool: "lonely" });
      for (const { id } of await system.listObservers("&pool=lonely&status=Processing")) await system.remove(id);
      await service.kill("SIGTERM");
      await eventually(async () => expect(await isThere("lonely")).toBe(false), { timeoutMs: 40_000 });
    },
    240_000,
  );

  it.runIf(isTurnOf(2))(
    "stays, with its messages, as long as another of its observers is wanted; the service that comes runs only that",
    async () => {
      system = await freshSystem();
      await system.startManager();
      for (const name of ["wanted", "unwanted"])
        expect((await system.create(name, {}, { pool: "shared", ...WAITS })).status).toBe(201);
      await eventually(async () => expect((await system.management.queue("unacked.work.shared")).ready).toBe(2));
      const { body: unwanted } = await system.call<{ id: string }>("DELETE", "/api/v1/observers/unwanted?force=true");
      system.mayStartOnceMore(unwanted.id);
      await system.startService("late", { env: { POOL: "shared" } });
      await system.untilStatus(["wanted"], "Processing");
      await system.check({ pool: "shared" });
    },
    240_000,
  );

  it.runIf(isTurnOf(0))(
    "stays, and is named, while somebody else consumes it",
    async () => {
      system = await freshSystem();
      await system.startManager();
      expect((await system.create("left", {}, { pool: "watched", ...WAITS })).status).toBe(201);
      await eventually(async () => expect((await system.management.queue("unacked.work.watched")).ready).toBe(1));
      const foreign = await connect(system.env.AMQP_URL as string);
      const channel = await foreign.createChannel();
      await channel.consume("unacked.work.watched", () => undefined);
      expect((await system.call("DELETE", "/api/v1/observers/left?force=true")).status).toBe(202);
      await eventually(async () => expect(await warningsAbout("watched")).toEqual(["queue-unwanted"]), {
        timeoutMs: 40_000,
      });
      const { queues } = await system.stats();
      expect(queues).toContainEqual({ queue: "unacked.work.watched", ready: 0, consumers: 1 });
      await foreign.close();
      await eventually(async () => expect(await isThere("watched")).toBe(false), { timeoutMs: 60_000 });
      await eventually(async () => expect(await warningsAbout("watched")).toEqual([]));
    },
    240_000,
  );
});
