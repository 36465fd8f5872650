import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import type { Delivery, LossReason, QueueDeclaration } from "../../libs/broker/src/index.ts";
import { brokerSettings, logged, queueNamed, supervised } from "../support/broker/broker-client.ts";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { type FreshVhost, freshVhost } from "../support/servers/servers.ts";

let vhost: FreshVhost;
beforeAll(async () => {
  vhost = await freshVhost();
});

const connectionsNamed = async (name: string) =>
  (await vhost.management.connections()).filter((each) => each.clientName === name);

const put = (queue: string, ...bodies: string[]) =>
  Promise.all(bodies.map((body) => vhost.management.publish({ exchange: "test.direct", routingKey: queue, body })));

/** The next socket of this process that connects to the port. */
function nextSocketTo(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const look = (message: unknown) => {
      const { socket } = message as { socket: Socket };
      socket.once("connect", () => {
        if (socket.remotePort !== port) return;
        unsubscribe("net.client.socket", look);
        resolve(socket);
      });
    };
    subscribe("net.client.socket", look);
  });
}

describe("a connection to several nodes", () => {
  test("goes to another one within a second when its own is lost, and while one cannot be reached", async () => {
    const proxies = await Promise.all([tcpProxy(vhost.amqpUrl), tcpProxy(vhost.amqpUrl), tcpProxy(vhost.amqpUrl)]);
    const [first, second, third] = proxies;
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
    await second.refuse(); // a node that is down
    const url = proxies.map((proxy) => proxy.through(vhost.amqpUrl)).join(",");
    const { connection } = supervised(url, {}, { connectionName: "of-several" });
    await connection.up();
    for (let generation = 2; generation < 6; generation += 1) {
      const cutMs = performance.now();
      for (const proxy of [first, third]) proxy.reset();
      await eventually(() => connection.status.generation === generation && connection.status.up);
      console.log(`on the next node after ${Math.round(performance.now() - cutMs)} ms, one of three down`);
    }
    await Promise.all([first.refuse(), third.refuse()]);
    await second.heal();
    for (const proxy of [first, third]) proxy.reset();
    await eventually(() => connection.status.generation === 6 && connection.status.up);
  });
});

describe("a connection that closes", () => {
  test("comes back when the broker closes it, its owner told once and before the rebuild", async () => {
    const order: string[] = [];
    const { connection, losses } = supervised(
      vhost.amqpUrl,
      {
        build: async (session) => void order.push(`build ${session.generation}`),
        onUp: (generation) => order.push(`up ${generation}`),
        onLost: (generation) => void order.push(`lost ${generation}, up: ${connection.status.up}`),
      },
      { connectionName: "closed-by-operator" },
    );
    const first = await connection.up();
    const [found] = await eventually(async () => {
      const all = await connectionsNamed("closed-by-operator");
      expect(all).toHaveLength(1);
      return all;
    });
    await vhost.management.closeConnection(found?.name ?? "", "maintenance");

    await eventually(() => connection.status.generation === 2 && connection.status.up);
    expect(order).toEqual(["build 1", "up 1", "lost 1, up: false", "build 2", "up 2"]);
    expect(losses[0]?.reason).toMatchObject({ kind: "connection-closed", detail: expect.stringContaining("maintenance") });
    expect(first.lost.reason).toEqual(losses[0]?.reason);
  });

  test("names the refusing host and what to do, goes on trying, and is up when it can be", async () => {
    const proxy = await tcpProxy(vhost.amqpUrl);
    await proxy.refuse();
    const { connection, losses } = supervised(proxy.through(vhost.amqpUrl));
    const loss = await eventually(() => connection.status.lastLoss ?? false);
    expect(loss).toMatchObject({
      kind: "connect-failed",
      detail: expect.stringContaining("ECONNREFUSED"),
      remedy: expect.stringContaining("Start RabbitMQ"),
    });
    await proxy.heal();
    await connection.up();
    expect(connection.status.generation).toBe(1);
    expect(losses).toEqual([]);
  });

  test.runIf(isTurnOf(2))(
    "is noticed by heartbeat when the wire is cut without a word, and its socket does not stay half-open",
    async () => {
      const proxy = await tcpProxy(vhost.amqpUrl);
      const connecting = nextSocketTo(proxy.port);
      const { connection, losses } = supervised(proxy.through(vhost.amqpUrl), {}, { heartbeatS: 1 });
      const socket = await connecting;
      await connection.up();
      proxy.blackhole();
      const sinceMs = performance.now();
      await eventually(() => losses.length === 1);
      expect(performance.now() - sinceMs).toBeLessThan(25_000);
      expect(losses[0]?.reason.detail).toMatch(/heartbeat/i);
      // While the peer still says nothing: an end alone would wait for the other end.
      await eventually(() => socket.destroyed, { what: "the socket being destroyed" });
      await proxy.heal();
      await eventually(() => connection.status.up && connection.status.generation === 2);
      await eventually(() => proxy.openConnections === 1, { what: "the old connection being gone" });
    },
  );

  test("tells the broker the heartbeat and the name it was given, and logs no password", async () => {
    const { connection } = supervised(vhost.amqpUrl, {}, { heartbeatS: 7, connectionName: "heartbeat-of-7" });
    await connection.up();
    await eventually(async () => {
      const all = (await vhost.management.call("GET", "/vhosts/{vhost}/connections")) as {
        timeout: number;
        client_properties: { connection_name?: string };
      }[];
      expect(all.find((each) => each.client_properties.connection_name === "heartbeat-of-7")?.timeout).toBe(7);
    });
    const password = new URL(vhost.amqpUrl).password;
    expect(logged.find(({ msg }) => msg === "connected to the broker")?.fields.url).toContain(":***@");
    expect(JSON.stringify(logged)).not.toContain(`:${password}@`);
  });
});

describe("a set-up", () => {
  test.runIf(isTurnOf(0))("that is reset at any of 50 points recovers each time", async () => {
    const proxy = await tcpProxy(vhost.amqpUrl);
    const built: number[] = [];
    const { connection } = supervised(proxy.through(vhost.amqpUrl), {
      build: async (session) => {
        await session.declare(queueNamed("resets"));
        await session.consume("resets", { prefetch: 10 }, () => undefined);
        await session.declareExchange({ name: "test.topic", type: "topic" });
        built.push(session.generation);
      },
    });
    await connection.up();
    const setUpBytes = proxy.passedBytes;
    for (let cut = 0; cut < 50; cut += 1) {
      const accepted = proxy.acceptedConnections;
      proxy.resetAfterBytes(1 + Math.floor((cut * setUpBytes) / 50));
      proxy.reset();
      await eventually(() => proxy.acceptedConnections >= accepted + 2, { what: `a second attempt after cut ${cut}` });
      expect(connection.status.up).toBe(false);
      await proxy.heal();
      await eventually(() => connection.status.up, { what: `up after cut ${cut}`, timeoutMs: 15_000 });
    }
    // 51 complete set-ups, each of another generation.
    expect(new Set(built).size).toBe(51);
  });

  test.runIf(isTurnOf(0))("does not wait for a peer that accepts and then says nothing", async () => {
    const proxy = await tcpProxy(vhost.amqpUrl);
    proxy.blackhole();
    const { connection } = supervised(proxy.through(vhost.amqpUrl));
    const loss = await eventually(() => connection.status.lastLoss ?? false, { timeoutMs: 12_000 });
    expect(loss).toMatchObject({ kind: "connect-failed", detail: "no AMQP handshake within 5000 ms" });
    await proxy.heal();
    await eventually(() => connection.status.up);
  });

  test.runIf(isTurnOf(1))(
    "does not wait for an answer that never comes, although the heartbeats do not notice",
    async () => {
      const proxy = await tcpProxy(vhost.amqpUrl);
      const { connection, losses } = supervised(
        proxy.through(vhost.amqpUrl),
        {
          build: async (session) => {
            if (session.generation === 1) proxy.blackhole("to-server");
            await session.declare(queueNamed("silence"));
          },
        },
        { heartbeatS: 3 },
      );
      await eventually(() => losses.length === 1, { timeoutMs: 15_000 });
      await proxy.heal();
      await eventually(() => connection.status.up);
      expect(losses[0]?.reason.detail).toBe('no answer to "declare exchange test.direct" within 6000 ms');
    },
  );

  test("whose connection goes is given up at once, whatever else the owner awaits in it", async () => {
    const proxy = await tcpProxy(vhost.amqpUrl);
    const { connection, losses } = supervised(proxy.through(vhost.amqpUrl), {
      build: async (session) => {
        if (session.generation > 1) return;
        proxy.reset();
        await new Promise(() => undefined);
      },
    });
    await eventually(() => connection.status.up, { timeoutMs: 15_000 });
    expect(losses.map(({ generation, reason }) => [generation, reason.kind])).toEqual([[1, "connection-closed"]]);
  });

  test("that throws is set-up failed, with what it said, and is tried again on a new connection", async () => {
    const { connection, losses } = supervised(vhost.amqpUrl, {
      build: async (session) => {
        if (session.generation < 3) throw new Error("not yet");
      },
    });
    await connection.up();
    expect(losses).toEqual(
      [1, 2].map((generation) => ({ generation, reason: { kind: "setup-failed", detail: "not yet" } })),
    );
    expect(connection.status.generation).toBe(3);
  });

  const refusals: [what: string, url: () => string, expected: Partial<LossReason>][] = [
    [
      "a wrong password",
      () => vhost.amqpUrl.replace(/:[^:@]+@/, ":wrong@"),
      {
        kind: "connect-failed",
        detail: expect.stringContaining("Login was refused"),
        remedy: expect.stringContaining("user and password"),
      },
    ],
    [
      "a vhost that is not there",
      () => `${vhost.amqpUrl}-not`,
      { kind: "connect-failed", detail: expect.stringContaining("-not'"), remedy: expect.stringContaining("add_vhost") },
    ],
  ];
  test.each(refusals)(
    "refused for %s is named, with the remedy, and never with the password",
    async (_what, url, expected) => {
      const { connection } = supervised(url());
      const loss = await eventually(() => connection.status.lastLoss ?? false);
      expect(loss).toMatchObject(expected);
      expect(JSON.stringify(logged)).not.toContain(":wrong@");
    },
  );

  test("refused for a queue with other arguments names the queue and the difference, and goes through once that queue is gone", async () => {
    const wanted: QueueDeclaration = queueNamed("argued", { "x-max-length": 10 });
    const before = supervised(vhost.amqpUrl, { build: (session) => session.declare(queueNamed("argued")) });
    await before.connection.up();
    const { connection, losses } = supervised(vhost.amqpUrl, { build: (session) => session.declare(wanted) });
    await eventually(() => losses.length >= 3);
    expect(losses[0]?.reason).toMatchObject({
      kind: "setup-failed",
      detail: expect.stringMatching(/inequivalent arg 'x-max-length' for queue 'argued'.*'10'/),
      remedy: expect.stringContaining("with other arguments"),
    });
    await vhost.management.deleteQueue("argued");
    await connection.up();
  });

  test("that would have a queue in another way stays as it is if that is one that it may have, and is made anew as wanted", async () => {
    const limit = { "x-max-length": 10 };
    const wanted = { ...queueNamed("kept"), otherwise: limit };
    const before = supervised(vhost.amqpUrl, { build: (session) => session.declare(queueNamed("kept", limit)) });
    await before.connection.up();
    const { connection, losses } = supervised(vhost.amqpUrl, { build: (session) => session.declare(wanted) });
    const session = await connection.up();
    expect((await vhost.management.queue("kept")).arguments).toEqual(limit);
    await vhost.management.deleteQueue("kept");
    await session.declare(wanted);
    expect((await vhost.management.queue("kept")).arguments).not.toHaveProperty("x-max-length");
    expect(losses).toEqual([]);
  });

  test.runIf(isTurnOf(1))(
    "that looks after a queue all the time, which is deleted in the middle of it, makes it anew as wanted",
    async () => {
      const limit = { "x-max-length": 10 };
      const wanted = { ...queueNamed("tended"), otherwise: limit };
      const other = await supervised(vhost.amqpUrl).connection.up();
      const { connection } = supervised(vhost.amqpUrl);
      const session = await connection.up();
      for (let round = 0; round < 80; round += 1) {
        await vhost.management.deleteQueue("tended").catch(() => undefined); // of the first round there is none
        await other.declare(queueNamed("tended", limit));
        await session.declare(wanted);
        let isGone = false;
        const tended = (async () => {
          while (!isGone) await session.declare(wanted);
          await session.declare(wanted);
        })();
        await vhost.management.deleteQueue("tended");
        isGone = true;
        await tended;
        expect((await vhost.management.queue("tended")).arguments, `in round ${round}`).not.toHaveProperty("x-max-length");
      }
    },
  );
});

describe("a session", () => {
  test("is lost with a channel that the broker closes alone; its connection goes too, and the messages come again", async () => {
    const deliveries: Delivery[] = [];
    const { connection, losses } = supervised(
      vhost.amqpUrl,
      {
        build: async (session) => {
          await session.declare(queueNamed("alone"));
          await session.consume("alone", { prefetch: 10 }, (delivery) => deliveries.push(delivery));
        },
      },
      { connectionName: "channel-closed-alone" },
    );
    const session = await connection.up();
    await put("alone", "job");
    await eventually(() => deliveries.length === 1);

    await expect(session.inspect("not-there")).rejects.toMatchObject({
      code: "session-lost",
      reason: { kind: "channel-closed" },
    });
    expect(losses.map(({ reason }) => reason)).toEqual([
      { kind: "channel-closed", detail: expect.stringContaining("no queue 'not-there'") },
    ]);
    await eventually(() => deliveries.length === 2);
    expect(deliveries[1]).toMatchObject({ generation: 2, redelivered: true });
    await eventually(async () => (await connectionsNamed("channel-closed-alone")).length === 1);
  });

  test("that is lost while a channel aside is being closed holds up nobody who waits for that", async () => {
    const proxy = await tcpProxy(vhost.amqpUrl);
    const { connection, losses } = supervised(proxy.through(vhost.amqpUrl));
    const channel = await (await connection.up()).openSideChannel();
    const closing = channel.close();
    proxy.reset(); // before the broker's answer can be here
    await closing;
    await channel.close();
    await eventually(() => losses.length === 1);
  });

  test("is lost when its queue is deleted under the consumer, and declares it again", async () => {
    const deliveries: Delivery[] = [];
    const { connection, losses } = supervised(vhost.amqpUrl, {
      build: async (session) => {
        await session.declare(queueNamed("deleted"));
        await session.consume("deleted", { prefetch: 10 }, (delivery) => deliveries.push(delivery));
      },
    });
    await connection.up();
    await vhost.management.deleteQueue("deleted");
    await eventually(() => connection.status.generation === 2 && connection.status.up);
    expect(losses[0]?.reason).toMatchObject({
      kind: "consumer-cancelled",
      detail: expect.stringContaining("queue deleted"),
      remedy: expect.any(String),
    });
    await put("deleted", "job");
    await eventually(() => deliveries.length === 1);
  });

  test("that is lost settles nothing any more, even while its connection still stands, and acks nobody else's message", async () => {
    const deliveries: Delivery[] = [];
    let letGo: () => void = () => undefined;
    const { connection, losses } = supervised(vhost.amqpUrl, {
      build: async (session) => {
        await session.declare(queueNamed("stale"));
        await session.consume("stale", { prefetch: 10 }, (delivery) => deliveries.push(delivery));
      },
      onLost: (generation) => (generation === 1 ? new Promise<void>((resolve) => (letGo = resolve)) : undefined),
    });
    const session = await connection.up();
    await put("stale", "a", "b");
    await eventually(() => deliveries.length === 2);
    session.end("a test");
    expect(losses).toHaveLength(1);
    expect(deliveries.map((delivery) => delivery.settle("ack"))).toEqual([false, false]);
    letGo();
    await eventually(() => deliveries.length === 4);
    // The tags are the same again: 1 and 2.
    expect(deliveries.slice(0, 2).map((delivery) => delivery.settle("ack"))).toEqual([false, false]);
    expect(await connection.session?.inspect("stale")).toMatchObject({ messageCount: 0 });
    await eventually(async () => expect(await vhost.management.queue("stale")).toMatchObject({ unacked: 2 }));
    expect(deliveries.slice(2).map((delivery) => delivery.settle("ack"))).toEqual([true, true]);
    expect(deliveries.slice(2).map((delivery) => delivery.settle("ack"))).toEqual([false, false]);
    await eventually(async () => expect(await vhost.management.queue("stale")).toMatchObject({ total: 0 }));
  });

  test("that is lost answers at once what is still asked of it, before its connection is closed", async () => {
    const proxy = await tcpProxy(vhost.amqpUrl);
    const { connection } = supervised(proxy.through(vhost.amqpUrl));
    const session = await connection.up();
    proxy.blackhole();
    const asked = session.inspect("whatever");
    const sinceMs = performance.now();
    session.end("a test");
    await expect(asked).rejects.toMatchObject({
      code: "session-lost",
      reason: { kind: "ended-by-owner", detail: "a test" },
    });
    await expect(session.inspect("whatever")).rejects.toMatchObject({ code: "session-lost" });
    expect(performance.now() - sinceMs).toBeLessThan(12_000);
  });

  test("keeps its messages from others until its owner, told of the loss, has let go", async () => {
    const queue = queueNamed("held");
    const mine: Delivery[] = [];
    const theirs: number[] = [];
    const stopMs = 400;
    let settledAtMs = 0;
    const { connection } = supervised(vhost.amqpUrl, {
      build: async (session) => {
        await session.declare(queue);
        if (session.generation === 1) await session.consume("held", { prefetch: 1 }, (delivery) => mine.push(delivery));
      },
      onLost: async (generation) => {
        if (generation !== 1) return;
        await new Promise((resolve) => setTimeout(resolve, stopMs));
        settledAtMs = performance.now();
      },
    });
    await connection.up();
    await put("held", "job");
    await eventually(() => mine.length === 1);
    const other = supervised(vhost.amqpUrl, {
      build: async (session) => void (await session.consume("held", { prefetch: 1 }, () => theirs.push(performance.now()))),
    });
    await other.connection.up();
    connection.session?.inspect("not-there").catch(() => undefined);
    await eventually(() => theirs.length === 1);
    expect(theirs[0]).toBeGreaterThanOrEqual(settledAtMs);
    expect(settledAtMs).toBeGreaterThan(0);
  });

  test("survives a handler that throws: the message comes again, its neighbours stay", async () => {
    const deliveries: Delivery[] = [];
    const { connection, losses } = supervised(vhost.amqpUrl, {
      build: async (session) => {
        await session.declare(queueNamed("throws"));
        await session.consume("throws", { prefetch: 10 }, (delivery) => {
          deliveries.push(delivery);
          if (delivery.body.toString() === "bad" && !delivery.redelivered) throw new Error("handler broke");
        });
      },
    });
    await connection.up();
    await put("throws", "good", "bad");
    await eventually(() => deliveries.length === 3);
    expect(deliveries[2]).toMatchObject({ redelivered: true, generation: 1 });
    expect(deliveries[2]?.body.toString()).toBe("bad");
    expect(deliveries.find((delivery) => delivery.body.toString() === "good")?.settle("ack")).toBe(true);
    expect(losses).toEqual([]);
    expect(
      logged.some(
        ({ level, fields }) => level === "error" && (fields.err as Error | undefined)?.message === "handler broke",
      ),
    ).toBe(true);
  });

  test("cancels a consumer: nothing new comes, what was handed out can be acked, and an ack before close() arrives", async () => {
    const deliveries: Delivery[] = [];
    const { connection } = supervised(vhost.amqpUrl, {
      build: (session) => session.declare(queueNamed("cancelled")),
    });
    const session = await connection.up();
    const consumer = await session.consume("cancelled", { prefetch: 1_000 }, (delivery) => deliveries.push(delivery));
    const jobs = Array.from({ length: 100 }, (_, i) => `job ${i}`);
    await put("cancelled", ...jobs);
    await eventually(() => deliveries.length === 100);
    await Promise.all([consumer.cancel(), consumer.cancel()]);
    await put("cancelled", "late");
    await eventually(async () => expect(await session.inspect("cancelled")).toEqual({ messageCount: 1, consumerCount: 0 }));
    expect(deliveries.every((delivery) => delivery.settle("ack"))).toBe(true);
    await connection.close();
    await eventually(async () => expect(await vhost.management.queue("cancelled")).toMatchObject({ ready: 1, unacked: 0 }));
    expect(deliveries).toHaveLength(100);
  });

  test.each([
    ["classic", {}],
    ["quorum", { "x-queue-type": "quorum" }],
  ])("that pauses keeps what it holds, and then takes as many more as it is told, %s", async (type, args) => {
    const { connection } = supervised(vhost.amqpUrl);
    const session = await connection.up();
    const queue = `paused-${type}`;
    await session.declare(queueNamed(queue, args));
    const bodies = Array.from({ length: 20 }, (_, i) => String(i).padStart(2, "0"));
    for (const body of bodies) await put(queue, body);
    const taken: Delivery[] = [];
    const texts = () => taken.map(({ body }) => body.toString());
    const consumer = await session.consume(queue, { prefetch: 3 }, (delivery) => taken.push(delivery));
    await eventually(() => taken.length === 3);

    await consumer.pause();
    for (const delivery of taken) expect(delivery.settle("ack")).toBe(true);
    await consumer.flushed();
    expect(texts()).toEqual(bodies.slice(0, 3));
    await consumer.resume(4);
    await eventually(() => taken.length === 7);
    await consumer.resume(5); // beside the four that it holds
    await eventually(() => taken.length === 12);
    await consumer.flushed();
    expect(texts()).toEqual(bodies.slice(0, 12));

    // A resume that comes after a cancel, or while it is under way, takes nothing.
    const [resumed, cancelled] = [consumer.resume(1), consumer.cancel()];
    await Promise.all([resumed, cancelled, consumer.resume(8), consumer.pause()]);
    await consumer.flushed();
    // A quorum queue counts those that were cancelled for as long as they hold messages.
    for (const delivery of taken) delivery.settle("ack");
    await eventually(async () => expect(await session.inspect(queue)).toEqual({ messageCount: 8, consumerCount: 0 }));
    expect(texts()).toEqual(bodies.slice(0, 12));
  });
  test("refuses a prefetch that AMQP cannot carry, and takes the highest that it can", async () => {
    const { connection } = supervised(vhost.amqpUrl, { build: (session) => session.declare(queueNamed("prefetch")) });
    const session = await connection.up();
    await expect(session.consume("prefetch", { prefetch: 65_536 }, () => undefined)).rejects.toThrow(
      "from 1 to 65535, not 65536",
    );
    await session.consume("prefetch", { prefetch: 65_535 }, () => undefined);
    expect(await session.inspect("prefetch")).toEqual({ messageCount: 0, consumerCount: 1 });
  });
});

describe("reaching a queue, as a proof of life", () => {
  const QUORUM = { "x-queue-type": "quorum", "x-delivery-limit": 1_000_000_000 };

  test.each([
    ["classic", {}],
    ["quorum", QUORUM],
  ])("takes nothing away from a %s queue that is full, and leaves no consumer", async (type, args) => {
    const name = `reached-${type}`;
    const { connection, losses } = supervised(vhost.amqpUrl, {
      build: (session) => session.declare(queueNamed(name, args)),
    });
    const session = await connection.up();
    const held: Delivery[] = [];
    await session.consume(name, { prefetch: 1 }, (delivery) => held.push(delivery));
    await session.reach(name);
    await put(name, "held");
    await eventually(() => held.length === 1);
    await put(name, "first");
    await put(name, "second");
    for (let i = 0; i < 3; i += 1) await session.reach(name);
    await eventually(async () => expect(await vhost.management.queue(name)).toMatchObject({ ready: 2, unacked: 1 }));
    expect(await session.inspect(name)).toMatchObject({ consumerCount: 1 });
    for (const body of ["held", "first", "second"]) {
      await eventually(() => held.length > 0);
      const delivery = held.shift() as Delivery;
      expect([delivery.body.toString(), delivery.deliveryCount > 0]).toEqual([
        body,
        type === "quorum" && body === "first", // what the proofs were given, and gave back
      ]);
      delivery.settle("ack");
    }
    expect(losses).toEqual([]);
  });

  test("is refused, at no cost to the session, where there is no such queue, and goes on when there is", async () => {
    const { connection, losses } = supervised(vhost.amqpUrl);
    const session = await connection.up();
    for (let i = 0; i < 2; i += 1) {
      const refused = await session.reach("reached-late").catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "queue-missing", message: expect.stringContaining("no queue 'reached-late'") });
    }
    await session.declare(queueNamed("reached-late"));
    await session.reach("reached-late");
    expect(losses).toEqual([]);
  });
});

test("a delivery says how often its quorum queue has given the message out before", async () => {
  const deliveries: Delivery[] = [];
  const args = { "x-queue-type": "quorum", "x-delivery-limit": 1_000_000_000 };
  const { connection } = supervised(vhost.amqpUrl, { build: (session) => session.declare(queueNamed("counted", args)) });
  const session = await connection.up();
  await session.consume("counted", { prefetch: 1 }, (delivery) => {
    deliveries.push(delivery);
    if (deliveries.length < 4) delivery.settle("requeue");
  });
  await put("counted", "job");
  await eventually(() => deliveries.length === 4);
  const counts = deliveries.map(({ deliveryCount }) => deliveryCount);
  expect(counts[0]).toBe(0);
  expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
});

describe("close()", () => {
  test("is idempotent, stops the retrying, and frees those who wait for a session", async () => {
    const proxy = await tcpProxy(vhost.amqpUrl);
    await proxy.refuse();
    const { connection } = supervised(proxy.through(vhost.amqpUrl));
    const waiting = expect(connection.up()).rejects.toMatchObject({
      code: "session-lost",
      reason: { kind: "ended-by-owner" },
    });
    await Promise.all([connection.close(), connection.close()]);
    await waiting;
    await proxy.heal();
    connection.start();
    await expect(connection.up()).rejects.toThrow("closed");
    expect(proxy.acceptedConnections).toBe(0);
  });

  test.runIf(isTurnOf(2))("takes at most about 2 s on a wire that is dead", async () => {
    const proxy = await tcpProxy(vhost.amqpUrl);
    const { connection } = supervised(proxy.through(vhost.amqpUrl));
    await connection.up();
    proxy.blackhole();
    const sinceMs = performance.now();
    await connection.close();
    expect(performance.now() - sinceMs).toBeLessThan(12_000);
  });
});

test("settings that can never work are refused at once", async () => {
  const { SupervisedConnection } = await import("../../libs/broker/src/index.ts");
  const make = (changes: object) => () =>
    new SupervisedConnection({ ...brokerSettings("amqp://localhost"), ...changes }, { build: async () => undefined });
  expect(make({ url: "http://localhost" })).toThrow("amqp://user:password@host:5672/vhost");
  expect(make({ heartbeatS: 0 })).toThrow("whole number of seconds");
});
