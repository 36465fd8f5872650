import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Delivery } from "../../libs/broker/src/index.ts";
import { type Rabbitmq, startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { logged, publisher, queueNamed, supervised } from "../support/broker/broker-client.ts";
import { cutQueueType } from "../support/broker/cut-queue-type.ts";
import { managementOf } from "../support/broker/management.ts";
import { memoryAlarm } from "../support/broker/rabbitmqctl.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/servers/servers.ts";

const CONSUMER_TIMEOUT_MS = 1_000;
const dir = temporaryFolder("alarms");
const message = (messageId: string) => ({
  exchange: "test.direct",
  routingKey: "alarmed",
  body: {},
  type: "Test",
  messageId,
  appId: "tests",
});

let broker: Rabbitmq;
let endBroker = async (): Promise<void> => undefined;
beforeAll(async () => {
  // As a broker that nobody configured, but with a second for its 30 minutes.
  // The interval at which it looks has no name in rabbitmq.conf.
  writeFileSync(join(dir, "advanced.config"), "[{rabbit, [{channel_tick_interval, 1000}]}].\n");
  broker = await startRabbitmq({ dir, config: { consumer_timeout: CONSUMER_TIMEOUT_MS } });
  endBroker = () => broker.kill().then(broker.stop);
});
afterAll(() => endBroker());

test("a broker that cuts long unacked messages is recognised, with the setting that ends it, and the message comes again", async () => {
  const deliveries: Delivery[] = [];
  const management = managementOf(broker.managementUrl, "/");
  const type = await cutQueueType(management);
  const { connection } = supervised(broker.amqpUrl, {
    build: async (session) => {
      await session.declare(queueNamed("forever", { "x-queue-type": type }));
      await session.consume("forever", { prefetch: 1 }, (delivery) => deliveries.push(delivery));
    },
  });
  await connection.up();
  await management.publish({ exchange: "test.direct", routingKey: "forever", body: "job" });
  await eventually(() => deliveries.length >= 2);
  expect(connection.status.lastLoss).toMatchObject({
    kind: "consumer-timeout",
    // A cancelled consumer (4.3) is told no time.
    detail: expect.stringContaining(type === "classic" ? `${CONSUMER_TIMEOUT_MS} ms` : "cancelled its consumer"),
    remedy: expect.stringContaining("consumer_timeout = 315360000000"),
  });
  expect(logged.find(({ fields }) => fields.kind === "consumer-timeout")?.level).toBe("error");
  expect(deliveries[1]).toMatchObject({ redelivered: true, generation: 2 });
});

test("while an alarm blocks publishes they wait, without a time limit but bounded in number; proofs of life pass; all go through when it ends", async () => {
  const { connection } = supervised(broker.amqpUrl, { build: (session) => session.declare(queueNamed("alarmed")) });
  const consuming = await connection.up();
  const started = publisher(broker.amqpUrl, {
    declare: (session) => session.declare(queueNamed("alarmed")),
    confirmTimeoutMs: 4_000,
    maxWaiting: 4,
  });
  await started.writable();
  await memoryAlarm(dir, true);

  // The broker tells only who publishes: this one is already on its way when the answer comes.
  const first = started.publish(message("first"));
  await eventually(() => started.status.blocked);
  const rest = ["second", "third", "fourth"].map((each) => started.publish(message(each)));
  await expect(started.publish(message("fifth"))).rejects.toMatchObject({ code: "overflow" });
  let isWritable = false;
  const writable = started.writable().then(() => {
    isWritable = true;
  });
  const blockedAtMs = performance.now();
  await eventually(async () => {
    await consuming.reach("alarmed");
    expect(await consuming.inspect("alarmed")).toMatchObject({ messageCount: 0 });
    return performance.now() - blockedAtMs > 8_000; // twice the confirm's time limit
  });
  expect(started.status).toMatchObject({ up: true, blocked: true, generation: 1 });
  expect(isWritable).toBe(false);

  await memoryAlarm(dir, false);
  await Promise.all([first, ...rest, writable]);
  expect(started.status).toMatchObject({ up: true, blocked: false, generation: 1 });
  expect(await consuming.inspect("alarmed")).toMatchObject({ messageCount: 4 });
});

test("a publisher that connects while the alarm is on is found out blocked by its first publish, and loses nothing", async () => {
  await memoryAlarm(dir, true);
  const started = publisher(broker.amqpUrl, {
    declare: (session) => session.declare(queueNamed("alarmed")),
    confirmTimeoutMs: 4_000,
  });
  await started.writable();
  const publishing = started.publish(message("sixth"));
  await eventually(() => started.status.blocked);
  await memoryAlarm(dir, false);
  await publishing;
  expect(started.status).toMatchObject({ blocked: false, generation: 1 });
});
