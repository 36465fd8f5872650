import { type ConnectionHooks, SupervisedConnection } from "@unacked/broker";
import { type ServiceId, workQueueName } from "@unacked/contracts";
import { expect, onTestFinished, test } from "vitest";
import { Topology } from "../../services/observer-service/src/keeper/intake/declare-topology.ts";
import { brokerSettings } from "../support/broker/broker-client.ts";
import { eventually } from "../support/eventually.ts";
import { freshVhost } from "../support/servers/servers.ts";

const QUEUE = workQueueName("default");
const TIMES = 5;

test("who holds a message of a work queue that is deleted is told, while another service sees to it that it can be reached", async () => {
  const { amqpUrl, management } = await freshVhost();
  const losses: string[] = [];
  let held = 0;
  const connected = async (build: ConnectionHooks["build"]) => {
    const onLost: ConnectionHooks["onLost"] = (_generation, { kind }) => void losses.push(kind);
    const connection = new SupervisedConnection(brokerSettings(amqpUrl), { build, onLost });
    connection.start();
    onTestFinished(() => connection.close());
    await connection.up();
    return connection;
  };

  const holder = topologyOf("service-1");
  const holding = await connected(async (session) => {
    await holder.declareForOrders(session);
    const queue = await holder.untilWorkQueueIsThere(session, () => undefined);
    await session.consume(queue, { prefetch: 10 }, () => {
      held += 1;
    });
  });
  const other = topologyOf("service-2");
  const beside = await connected(async (session) => void (await other.declareForOrders(session)));
  let isOver = false;
  const reaching = (async () => {
    while (!isOver && beside.session !== undefined) await other.stayReachable(beside.session);
  })();

  for (let time = 1; time <= TIMES; time += 1) {
    await management.publish({ exchange: "unacked.start", routingKey: "default", body: "{}" });
    await eventually(() => held === time);
    await management.deleteQueue(QUEUE);
    await eventually(() => expect(losses).toEqual(Array(time).fill("consumer-cancelled")));
    await eventually(() => holding.status.up);
  }
  isOver = true;
  await reaching;
});

const topologyOf = (serviceId: string) =>
  new Topology({
    serviceId: serviceId as ServiceId,
    pool: "default",
    queueType: "quorum",
    declaresAll: true,
    hasTasks: () => false,
  });
