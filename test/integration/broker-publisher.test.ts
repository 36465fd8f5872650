import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { Delivery, Outgoing, Publisher, PublisherOptions } from "../../libs/broker/src/index.ts";
import { publisher, queueNamed, supervised } from "../support/broker/broker-client.ts";
import { type TcpProxy, tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { type FreshVhost, freshVhost } from "../support/servers/servers.ts";

let vhost: FreshVhost;
beforeAll(async () => {
  vhost = await freshVhost();
});

let count = 0;
const message = (queue: string, changes: Partial<Outgoing> = {}): Outgoing => ({
  exchange: "test.direct",
  routingKey: queue,
  body: { n: count },
  type: "Test",
  messageId: `m${(count += 1)}`,
  appId: "tests",
  ...changes,
});

/** A publisher that is up and has declared the queue. */
async function publisherTo(
  queue: string,
  options: PublisherOptions = {},
  args: Record<string, unknown> = {},
  url = vhost.amqpUrl,
): Promise<Publisher> {
  const started = publisher(url, { declare: (session) => session.declare(queueNamed(queue, args)), ...options });
  await started.writable();
  return started;
}

async function proxiedPublisherTo(
  queue: string,
  options: PublisherOptions = {},
): Promise<{ proxy: TcpProxy; started: Publisher }> {
  const proxy = await tcpProxy(vhost.amqpUrl);
  return { proxy, started: await publisherTo(queue, options, {}, proxy.through(vhost.amqpUrl)) };
}

describe("publish()", () => {
  test("resolves for 10,000 at once, each in the queue exactly once", async () => {
    const seen = new Set<number>();
    let deliveries = 0;
    const started = await publisherTo("many");
    const sinceMs = performance.now();
    await Promise.all(
      Array.from({ length: 10_000 }, (_, n) => started.publish(message("many", { body: { n, pad: "x".repeat(400) } }))),
    );
    console.log(`10,000 persistent publishes confirmed in ${Math.round(performance.now() - sinceMs)} ms`);
    const { connection } = supervised(vhost.amqpUrl, {
      build: async (session) => {
        await session.consume("many", { prefetch: 1_000 }, (delivery) => {
          deliveries += 1;
          seen.add((JSON.parse(delivery.body.toString()) as { n: number }).n);
          delivery.settle("ack");
        });
      },
    });
    const session = await connection.up();
    await eventually(() => seen.size === 10_000);
    expect(await session.inspect("many")).toMatchObject({ messageCount: 0 });
    expect(deliveries).toBe(10_000);
  });

  test("puts the envelope into the properties, and the body into JSON as it was when it was called", async () => {
    const started = await publisherTo("envelope");
    const body = { price: 1 };
    const publishing = started.publish(message("envelope", { body, messageId: "the-id", headers: { traced: true, v: 7 } }));
    body.price = 2;
    await publishing;
    const [found] = await vhost.management.get("envelope");
    expect(JSON.parse(String(found?.body))).toEqual({ price: 1 });
    const now = Date.now() / 1_000;
    expect(found?.properties).toMatchObject({
      type: "Test",
      message_id: "the-id",
      app_id: "tests",
      content_type: "application/json",
      delivery_mode: 2,
      headers: { traced: true, v: 1 },
    });
    expect(Math.abs(Number(found?.properties.timestamp) - now)).toBeLessThan(60);
  });

  test("carries a body of 1 MiB", async () => {
    const deliveries: Delivery[] = [];
    const started = await publisherTo("large");
    const body = Buffer.alloc(1024 * 1024, "0123456789");
    await started.publish(message("large", { body }));
    supervised(vhost.amqpUrl, {
      build: async (session) => void (await session.consume("large", { prefetch: 1 }, (each) => deliveries.push(each))),
    });
    await eventually(() => deliveries.length === 1);
    expect(deliveries[0]?.body.equals(body)).toBe(true);
  });

  test("rejects a message that no queue took, and only that one", async () => {
    const started = await publisherTo("routed");
    const outcomes = await Promise.allSettled([
      started.publish(message("routed")),
      started.publish(message("nobody")),
      started.publish(message("routed")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(outcomes[1]).toMatchObject({ reason: { code: "returned", message: expect.stringContaining("key 'nobody'") } });
    await started.publish(message("nobody", { mandatory: false }));
  });

  test("rejects a message that the broker refuses", async () => {
    const started = await publisherTo("full", {}, { "x-max-length": 1, "x-overflow": "reject-publish" });
    await started.publish(message("full"));
    await expect(started.publish(message("full"))).rejects.toMatchObject({ code: "nacked" });
  });

  test("starts over where all that has to be taken is refused for long, and not where clients bound their queues", async () => {
    const bounded = { "x-max-length": 1, "x-overflow": "reject-publish" };
    const [ours, others] = [
      await publisherTo("ours", { mustBeTaken: (exchange) => exchange === "test.direct" }, bounded),
      await publisherTo("theirs", { mustBeTaken: (exchange) => exchange !== "test.direct" }, bounded),
    ];
    await Promise.all([ours.publish(message("ours")), others.publish(message("theirs"))]);
    await eventually(async () => {
      if (ours.status.up) await expect(ours.publish(message("ours"))).rejects.toThrow();
      await expect(others.publish(message("theirs"))).rejects.toMatchObject({ code: "nacked" });
      expect(ours.status.generation).toBe(2);
    });
    expect(ours.status.lastLoss?.detail).toMatch(
      /^the broker has refused all that was published to test.direct for \d+ ms$/,
    );
    expect(others.status).toMatchObject({ up: true, generation: 1 });
  });

  test("rejects what cannot be a message, and its neighbours pass", async () => {
    const started = await publisherTo("invalid");
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const outcomes = await Promise.allSettled([
      started.publish(message("invalid")),
      started.publish(message("invalid", { body: circular })),
      started.publish(message("invalid", { body: undefined })),
      started.publish(message("k".repeat(256))),
      started.publish(message("invalid", { messageId: "i".repeat(256) })),
      started.publish(message("invalid")),
    ]);
    expect(outcomes.map((each) => (each.status === "rejected" ? (each.reason as { code: string }).code : "ok"))).toEqual([
      "ok",
      "invalid",
      "invalid",
      "invalid",
      "invalid",
      "ok",
    ]);
    expect(started.status.generation).toBe(1);
  });

  test("tells a loss before the confirm from one before anything was sent", async () => {
    const { proxy, started } = await proxiedPublisherTo("lossy");
    proxy.blackhole("to-client");
    const sent = started.publish(message("lossy"));
    proxy.reset();
    await expect(sent).rejects.toMatchObject({ code: "lost" });
    await expect(started.publish(message("lossy"))).rejects.toMatchObject({ code: "unavailable" });
    await proxy.heal();
    await started.writable();
    await started.publish(message("lossy"));
    expect(started.status.generation).toBe(2);
  });

  test("settles each of 5,000 when the wire is cut in the middle, although no drain comes any more", async () => {
    const { proxy, started } = await proxiedPublisherTo("cut");
    proxy.blackhole("to-server");
    const publishing = Promise.allSettled(
      Array.from({ length: 5_000 }, () => started.publish(message("cut", { body: "x".repeat(2_000) }))),
    );
    proxy.reset();
    const codes = new Map<string, number>();
    for (const each of await publishing) {
      const code = each.status === "rejected" ? (each.reason as { code: string }).code : "confirmed";
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(codes.get("lost")).toBeGreaterThan(0);
    expect(codes.get("unavailable")).toBeGreaterThan(0);
    expect([...codes.keys()].sort()).toEqual(["lost", "unavailable"]);
    await proxy.heal();
    await started.writable();
    await started.publish(message("cut"));
  });

  test("gives up a confirm that is late, ends the session for it, and goes on in the next", async () => {
    const { proxy, started } = await proxiedPublisherTo("late", { confirmTimeoutMs: 6_000 });
    await started.publish(message("late"));
    proxy.blackhole("to-client");
    await expect(started.publish(message("late"))).rejects.toMatchObject({ code: "too-late" });
    expect(started.status).toMatchObject({
      up: false,
      lastLoss: { kind: "ended-by-owner", detail: "no confirm within 6000 ms" },
    });
    await proxy.heal();
    await started.writable();
    await started.publish(message("late"));
    expect(started.status.generation).toBe(2);
  });

  test("told to start over, gives up what is open and is there again on another connection", async () => {
    const { proxy, started } = await proxiedPublisherTo("over");
    proxy.blackhole("to-client");
    const open = started.publish(message("over"));
    started.startOver("no confirm for long");
    await expect(open).rejects.toMatchObject({ code: "lost" });
    expect(started.status).toMatchObject({ up: false, lastLoss: { detail: "no confirm for long" } });
    started.startOver("asked once more, without a connection"); // nothing to give up
    await proxy.heal();
    await started.writable();
    await started.publish(message("over"));
    expect(started.status.generation).toBe(2);
  });

  test("keeps the session while confirms come in time, however long it goes on", async () => {
    const started = await publisherTo("steady", { confirmTimeoutMs: 6_000 });
    const untilMs = performance.now() + 9_000;
    while (performance.now() < untilMs) {
      await started.publish(message("steady"));
      await sleep(20);
    }
    expect(started.status).toMatchObject({ up: true, generation: 1 });
  });

  test("refuses one more than may be open", async () => {
    const { proxy, started } = await proxiedPublisherTo("bounded", { maxWaiting: 3 });
    proxy.blackhole("to-client");
    const open = [1, 2, 3].map(() => started.publish(message("bounded")));
    await expect(started.publish(message("bounded"))).rejects.toMatchObject({ code: "overflow" });
    await proxy.heal();
    await Promise.all(open);
    await started.publish(message("bounded"));
  });
});

describe("close()", () => {
  test("lets what was published before arrive, and takes no more", async () => {
    const started = await publisherTo("closing");
    const publishing = Promise.all(Array.from({ length: 500 }, () => started.publish(message("closing"))));
    const closing = started.close();
    await expect(started.publish(message("closing"))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("closed"),
    });
    await publishing;
    await closing;
    await eventually(async () => expect(await vhost.management.queue("closing")).toMatchObject({ ready: 500 }));
  });

  test("does not wait for ever for a confirm on a dead wire", async () => {
    const { proxy, started } = await proxiedPublisherTo("dead");
    proxy.blackhole();
    const lost = expect(started.publish(message("dead"))).rejects.toMatchObject({ code: "lost" });
    const sinceMs = performance.now();
    await started.close();
    await lost;
    expect(performance.now() - sinceMs).toBeLessThan(25_000);
  });
});
