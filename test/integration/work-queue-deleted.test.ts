import { expect, test } from "vitest";
import { type ServiceId, workQueueName } from "../../libs/contracts/src/index.ts";
import { Topology } from "../../services/observer-service/src/keeper/intake/declare-topology.ts";
import { supervised } from "../support/broker/broker-client.ts";
import { eventually } from "../support/eventually.ts";
import { freshVhost } from "../support/servers/servers.ts";

const QUEUE = workQueueName("default");
const TIMES = 5;

test("who holds a message of a work queue that is deleted is told, while another service sees to it that it can be reached", async () => {
  const vhost = await freshVhost();
  const service = (serviceId: string) =>
    new Topology({
      serviceId: serviceId as ServiceId,
      pool: "default",
      queueType: "quorum",
      declaresAll: true,
      hasTasks: () => false,
    });

  const held: unknown[] = [];
  const topology = service("service-1");
  const holder = supervised(vhost.amqpUrl, {
    build: async (session) => {
      await topology.declareForOrders(session);
      const queue = await topology.untilWorkQueueIsThere(session, () => {});
      await session.consume(queue, { prefetch: 10 }, (delivery) => held.push(delivery));
    },
  });
  const other = service("service-2");
  const beside = supervised(vhost.amqpUrl, { build: async (session) => void (await other.declareForOrders(session)) });
  await Promise.all([holder.connection.up(), beside.connection.up()]);
  const closed = new AbortController();
  const reaching = (async () => {
    while (!closed.signal.aborted) {
      const { session } = beside.connection;
      if (session !== undefined) await other.stayReachable(session);
    }
  })();

  for (let time = 1; time <= TIMES; time += 1) {
    await vhost.management.publish({ exchange: "unacked.start", routingKey: "default", body: "{}" });
    await eventually(() => held.length === time);
    await vhost.management.deleteQueue(QUEUE);
    await eventually(() =>
      expect(holder.losses.map(({ reason }) => reason.kind)).toEqual(Array(time).fill("consumer-cancelled")),
    );
    await eventually(() => holder.connection.status.up);
  }
  closed.abort();
  await reaching;
  expect(beside.losses).toEqual([]);
});
