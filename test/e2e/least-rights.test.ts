import { randomUUID } from "node:crypto";
import type { ErrorPage, ObserverLogs, ObserverView } from "@unacked/contracts";
import type { Channel } from "amqplib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tapOutput } from "../support/acts/output-tap.ts";
import { Intruder, type RestrictedBroker, restrictedBroker } from "../support/broker/restricted-broker.ts";
import { TimerListener } from "../support/broker/timer-listener.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

describe("with the broker users of deploy/rabbitmq-definitions.json", () => {
  let rights: RestrictedBroker;
  let system: System;

  beforeAll(async () => {
    rights = await restrictedBroker();
    const { amqpUrl, management } = rights.broker;
    system = await freshSystem({ amqpUrl, management });
  });
  afterAll(() => system.close());

  const startManager = () => system.startManager({ env: { AMQP_URL: rights.managerUrl } });
  const startService = (name: string, more: { untilKnown?: boolean; env?: Record<string, string> } = {}) =>
    system.startService(name, {
      ...more,
      env: { AMQP_URL: rights.serviceUrl, DECLARE_TOPOLOGY: "false", ...more.env },
    });

  it("services that are there before anything was ever declared wait for a manager, and then take observers", async () => {
    const services = await Promise.all(["service-1", "service-2"].map((name) => startService(name, { untilKnown: false })));
    for (const service of services)
      await service.waitForLine((line) => /no exchange 'unacked.control'.*no manager has declared it yet/.test(line));
    await startManager();
    for (const service of services) await service.waitForEvent("consuming");
    const waited = services.flatMap(({ lines }) => lines.filter((line) => line.includes("waiting-for-queue")));
    expect(waited.length).toBeGreaterThan(0);
    await system.untilServiceKnown("service-1");
    await system.untilServiceKnown("service-2");
    await system.createMany("first", 6);
    // What they waited for is there.
    expect((await system.stats()).warnings.filter(({ code }) => code === "broker-trouble")).toEqual([]);
    await system.check();
  });

  it("observers fail over by kill -9, are restarted and stopped, and what they emit is published", async () => {
    const output = await tapOutput<{ hello: string }>(rights.broker.amqpUrl, "stamp.#");
    const observers = await system.createMany("moving", 8);
    await system.createMany("talking", 1, { emit: true });
    await eventually(() => expect(output.messages.map(({ event }) => event)).toContainEqual({ hello: "talking-0" }));
    await output.close();

    const killed = (await system.listServices()).find(({ name }) => name === "service-1")?.id;
    await system.service("service-1").kill("SIGKILL");
    await startService("service-1");
    await eventually(async () => {
      const now = await system.observers(observers.map(({ id }) => id));
      // Right after a death the books still have them where they were.
      expect(now.filter(({ status, service }) => status !== "Processing" || service?.id === killed)).toEqual([]);
    });
    const [first, second] = observers as [ObserverView, ObserverView];
    expect((await system.call("POST", `/api/v1/observers/${first.id}/restart`)).status).toBe(202);
    await eventually(async () => expect((await system.get(first.id)).epoch).toBeGreaterThan(first.epoch));
    await system.remove(second.id);
    await system.check();
  });

  it("a service gives its observers back by SIGTERM, and says goodbye", async () => {
    expect(await system.service("service-2").kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await eventually(async () => {
      const all = await system.listServices("?all=true");
      expect(all.find(({ name }) => name === "service-2")).toMatchObject({ state: "Stopped" });
    });
    await startService("service-2");
    await system.check();
  });

  it.runIf(isTurnOf(2))(
    "what an observer says can be read, and followed to where it goes on when its service is drained",
    async () => {
      await system.createMany("saying", 1, { sayEveryMs: 50 });
      await eventually(async () => {
        const { status, body } = await system.call<ObserverLogs>("GET", "/api/v1/observers/saying-0/logs");
        expect([status, body.entries?.[0]]).toMatchObject([200, { message: "said" }]);
      });
      const from = (await system.get("saying-0")).service?.name ?? expect.fail("on no service");
      const { events, close } = await followEvents(`${system.url}/api/v1/observers/saying-0/logs?follow=true`);
      const entriesAfterRun = (isRun: (service: string) => boolean) => {
        const begin = events.findIndex(({ event, data }) => event === "run" && isRun(data.service.name));
        return begin < 0 ? 0 : events.slice(begin).filter(({ event }) => event === "entry").length;
      };
      await eventually(() => expect(entriesAfterRun((service) => service === from)).toBeGreaterThan(1));

      await startService("guest"); // there are more observers than the others have room for
      expect((await system.call("POST", `/api/v1/services/${from}/drain`)).status).toBe(202);
      const drained = async () => (await system.listServices()).find(({ name }) => name === from);
      await eventually(async () => expect(await drained()).toMatchObject({ draining: true, drained: true, running: 0 }), {
        timeoutMs: 20_000,
      });
      await eventually(() => expect(entriesAfterRun((service) => service !== from)).toBeGreaterThan(1));
      close();
      await system.check();
      await system.service(from).kill("SIGTERM");
      await startService(from);
      await system.service("guest").kill("SIGTERM");
      await system.check();
    },
  );

  it("failures and messages that cannot be read reach the errors", async () => {
    const { body } = await system.create("failing", { throwAfterMs: 10 }, { retry: { maxAttempts: 1, delaysMs: [10] } });
    await system.untilStatus([body.id], "Failed");
    await system.management.publish({ exchange: "unacked.start", routingKey: "default", body: "no start at all" });
    await eventually(async () => {
      const errors = (await system.call<ErrorPage>("GET", "/api/v1/errors")).body.items;
      expect(errors.map(({ reason }) => reason).toSorted()).toEqual(["retries-used-up", "unreadable"]);
    });
    await system.check();
  });

  it.runIf(isTurnOf(1))(
    "what an operator deletes by mistake, the manager declares again, and services find it",
    async () => {
      const before = (await system.listObservers("&status=Processing")).map(({ id }) => id);
      for (const exchange of ["unacked.control", "unacked.service", "unacked.output"])
        await system.management.call("DELETE", `/exchanges/{vhost}/${exchange}`);
      await system.management.call("DELETE", "/bindings/{vhost}/e/unacked.events/q/unacked.state/state");
      const [stopped] = before as [string];
      expect((await system.call("DELETE", `/api/v1/observers/${stopped}`)).status).toBe(202);
      await system.untilStatus([stopped], "Deleted", 30_000);

      // Who asks how deep a queue is has it declared: those who consumed from it hear of its end all the same.
      const asking = new AbortController();
      const asked = Promise.all(
        [1, 2, 3].map(async () => {
          while (!asking.signal.aborted) await system.call("GET", "/api/v1/stats");
        }),
      );
      const losers = ["service-1", "service-2"].map((name) => system.service(name));
      const linesBefore = losers.map(({ lines }) => lines.length);
      await system.management.deleteQueue("unacked.work.default");
      // The broker tells them, or a proof of life finds it out.
      await eventually(() => {
        for (const [i, { lines }] of losers.entries())
          expect(lines.slice(linesBefore[i]).join("\n")).toMatch(/"kind":"consumer-cancelled"|"why":"taken-back"/);
      });
      asking.abort();
      await asked;
      await system.untilStatus(before.slice(1), "Processing", 30_000);
      await system.check({ timeoutMs: 40_000 });
    },
  );

  it("a pool whose queue its user has no right to read is named, with what to do", async () => {
    const stranger: RunningProcess = await startService("service-3", { untilKnown: false, env: { POOL: "other" } });
    const line = await stranger.waitForLine((each) => each.includes("ACCESS_REFUSED"));
    expect(line).toContain("unacked.work.other");
    expect(JSON.parse(line)).toMatchObject({ remedy: expect.stringContaining("deploy/rabbitmq-definitions.json") });
    expect(stranger.exit()).toBeNull();
    await stranger.kill("SIGKILL");
  });

  it.runIf(isTurnOf(2))(
    "the queue of a pool that nobody wants any more is removed, with the message of an observer deleted by force",
    async () => {
      const isThere = async () => (await system.management.queues()).some(({ name }) => name === "unacked.work.lonely");
      expect((await system.create("left", {}, { pool: "lonely", whenFull: "queue" })).status).toBe(201);
      await eventually(async () => expect(await isThere()).toBe(true));
      expect((await system.call("DELETE", "/api/v1/observers/left?force=true")).status).toBe(202);
      await eventually(async () => expect(await isThere()).toBe(false), { timeoutMs: 40_000 });
    },
  );

  const publishTo = (exchange: string, key: string) => (channel: Channel) =>
    void channel.publish(exchange, key, Buffer.from("{}"));
  const consume = (queue: string) => (channel: Channel) => channel.consume(queue, () => undefined);

  it.runIf(isTurnOf(0))(
    "a task waits for a service that has its type, runs there, is lost, sent again, and ends",
    async () => {
      const tasks = new Tasks(system);
      const { id } = await tasks.create(); // no service has task workers yet: nothing can be checked
      const tasker = await startService("tasker", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "1" } });
      expect((await tasks.get(id, "20s")).status).toBe("Completed");
      const running = await tasks.create({ ms: 600_000 });
      await tasks.untilStatus(running.id, "Running");
      const lost = await tasks.create();
      await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).ready).toBe(1));
      await system.management.purge("unacked.tasks.default");
      expect((await system.call("DELETE", `/api/v1/tasks/${running.id}`)).status).toBe(202);
      await tasks.untilStatus(lost.id, "Completed");
      await tasker.kill("SIGTERM");
    },
  );

  it("a timer fires, and whoever may read the exchange hears it", async () => {
    const listener = await TimerListener.listen(rights.broker.amqpUrl, "of.least");
    const id = randomUUID();
    const timer = { at: 0, name: "of.least", payload: 1, expiresAt: "2100-01-01T00:00:00Z" };
    expect((await system.call("PUT", `/api/v1/timers/${id}`, timer)).status).toBe(201);
    await eventually(() => expect(listener.of(id)).toHaveLength(1));
    await listener.close();
  });

  describe("a service's user", () => {
    let intruder: Intruder;
    beforeAll(async () => {
      intruder = await Intruder.connect(rights.serviceUrl);
    });
    afterAll(() => intruder.close());

    const mine = "unacked.control.00000000-0000-7000-8000-000000000000.1";

    it.each<[what: string, act: (channel: Channel) => unknown, resource: string]>([
      ["read the state queue", consume("unacked.state"), "queue 'unacked.state'"],
      ["read the tasks' state queue", consume("unacked.task-state"), "queue 'unacked.task-state'"],
      ["publish a task", publishTo("unacked.tasks", "default"), "exchange 'unacked.tasks'"],
      ["take from the state queue", (channel) => channel.get("unacked.state"), "queue 'unacked.state'"],
      ["purge the state queue", (channel) => channel.purgeQueue("unacked.state"), "queue 'unacked.state'"],
      ["read the error queue", consume("unacked.error"), "queue 'unacked.error'"],
      ["purge the error queue", (channel) => channel.purgeQueue("unacked.error"), "queue 'unacked.error'"],
      ["delete the state queue", (channel) => channel.deleteQueue("unacked.state"), "queue 'unacked.state'"],
      ["delete the work queue", (channel) => channel.deleteQueue("unacked.work.default"), "queue 'unacked.work.default'"],
      ["declare a work queue", (channel) => channel.assertQueue("unacked.work.default"), "queue 'unacked.work.default'"],
      ["declare a queue of its own", (channel) => channel.assertQueue("mine"), "queue 'mine'"],
      ["declare a queue without a name", (channel) => channel.assertQueue(""), "queue 'amq.gen-"],
      ["delete an exchange", (channel) => channel.deleteExchange("unacked.events"), "exchange 'unacked.events'"],
      ["declare an exchange", (channel) => channel.assertExchange("unacked.mine", "fanout"), "exchange 'unacked.mine'"],
      ["publish a start", publishTo("unacked.start", "default"), "exchange 'unacked.start'"],
      ["publish orders to all", publishTo("unacked.control", ""), "exchange 'unacked.control'"],
      ["publish an order to one", publishTo("unacked.service", "x.1"), "exchange 'unacked.service'"],
      ["forge a timer", publishTo("unacked.timers", "x"), "exchange 'unacked.timers'"],
      ["publish past the exchanges", publishTo("", "unacked.work.default"), "exchange 'amq.default'"],
      ["publish to the broker's own exchanges", publishTo("amq.topic", "x"), "exchange 'amq.topic'"],
      ["emit what names no type and observer", publishTo("unacked.output", "shout"), "topic 'shout'"],
      [
        "unbind the work queue",
        (channel) => channel.unbindQueue("unacked.work.default", "unacked.start", "default"),
        "queue",
      ],
      [
        "listen to starts",
        async (channel) => {
          await channel.assertQueue(mine, { exclusive: true, durable: false });
          await channel.bindQueue(mine, "unacked.start", "default");
        },
        "exchange 'unacked.start'",
      ],
      [
        "listen to timers",
        async (channel) => {
          await channel.assertQueue(mine, { exclusive: true, durable: false });
          await channel.bindQueue(mine, "unacked.timers", "#");
        },
        "exchange 'unacked.timers'",
      ],
      [
        "listen to other services' events",
        async (channel) => {
          await channel.assertQueue(mine, { exclusive: true, durable: false });
          await channel.bindQueue(mine, "unacked.events", "state");
        },
        "exchange 'unacked.events'",
      ],
    ])("cannot %s", async (_what, act, resource) => {
      const answer = await intruder.attempt(act);
      expect(answer).toContain("ACCESS_REFUSED");
      expect(answer).toContain(resource);
    });

    it("cannot read, declare or delete the control queue of a living service: it is that connection's own", async () => {
      const queues = await system.management.queues();
      const theirs = queues.find(({ name }) => name.startsWith("unacked.control.") && name !== mine)?.name ?? "";
      for (const act of [
        consume(theirs),
        (channel: Channel) => channel.assertQueue(theirs, { durable: false }),
        (channel: Channel) => channel.deleteQueue(theirs),
      ])
        expect(await intruder.attempt(act)).toContain("RESOURCE_LOCKED");
    });

    it("can do what a service has to: with the right to consume its pool's queue comes, in RabbitMQ, that to purge it", async () => {
      for (const act of [
        publishTo("unacked.events", "nobody"),
        publishTo("unacked.errors", "nobody"),
        publishTo("unacked.output", "stamp.one"),
        (channel: Channel) => channel.purgeQueue("unacked.work.default"),
      ])
        expect(await intruder.attempt(act)).toBe("allowed");
    });
  });

  describe("a manager's user", () => {
    let intruder: Intruder;
    beforeAll(async () => {
      intruder = await Intruder.connect(rights.managerUrl);
    });
    afterAll(() => intruder.close());

    it.each<[what: string, act: (channel: Channel) => unknown, resource: string]>([
      ["consume the work queue", consume("unacked.work.default"), "queue 'unacked.work.default'"],
      ["consume the task queue", consume("unacked.tasks.default"), "queue 'unacked.tasks.default'"],
      ["take from the work queue", (channel) => channel.get("unacked.work.default"), "queue 'unacked.work.default'"],
      ["purge the work queue", (channel) => channel.purgeQueue("unacked.work.default"), "queue 'unacked.work.default'"],
      ["emit as an observer", publishTo("unacked.output", "stamp.one"), "exchange 'unacked.output'"],
      ["forge an error report", publishTo("unacked.errors", "error"), "exchange 'unacked.errors'"],
      ["publish past the exchanges", publishTo("", "unacked.work.default"), "exchange 'amq.default'"],
      ["declare a queue of another name", (channel) => channel.assertQueue("mine"), "queue 'mine'"],
      ["declare a queue without a name", (channel) => channel.assertQueue(""), "queue 'amq.gen-"],
      [
        "read what observers emit",
        (channel) => channel.bindQueue("unacked.error", "unacked.output", "#"),
        "exchange 'unacked.output'",
      ],
    ])("cannot %s", async (_what, act, resource) => {
      const answer = await intruder.attempt(act);
      expect(answer).toContain("ACCESS_REFUSED");
      expect(answer).toContain(resource);
    });
  });
});
