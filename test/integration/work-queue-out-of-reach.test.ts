import { type LossReason, type Session, SupervisedConnection } from "@unacked/broker";
import { type ServiceId, TOLD_WITHIN_MS, workQueue } from "@unacked/contracts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { WorkQueues } from "../../services/observer-manager/src/adapters/amqp/pools/work-queues.ts";
import { ConsumedQueue } from "../../services/observer-service/src/keeper/consumed-queue.ts";
import { Topology } from "../../services/observer-service/src/keeper/intake/declare-topology.ts";
import { WorkQueue, type WorkQueueParts } from "../../services/observer-service/src/keeper/intake/work-queue.ts";
import { createLog } from "../../services/observer-service/src/log.ts";
import { Generations, type GenerationsParts } from "../../services/observer-service/src/service/generations.ts";
import { brokerSettings } from "../support/broker/broker-client.ts";
import { rabbitmqctl } from "../support/broker/rabbitmqctl.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog } from "../support/servers/books.ts";
import { type PrivateBroker, privateBroker } from "../support/servers/servers.ts";

const QUEUE = workQueue("default", "classic");
const NAME = `rabbit_misc:r(<<"/">>, queue, <<"${QUEUE.name}">>)`;
/** As a node of a cluster has it while the queue's own node is down: known to be durable, and nowhere to be found. */
const HOME_IS_DOWN = `[Q] = mnesia:dirty_read(rabbit_queue, ${NAME}), persistent_term:put(its_home, Q), mnesia:dirty_delete(rabbit_queue, ${NAME}).`;
const HOME_IS_BACK = "mnesia:dirty_write(rabbit_queue, persistent_term:get(its_home)).";

let broker: PrivateBroker;
let version = "";
let losses: string[] = [];
beforeAll(async () => {
  broker = await privateBroker();
  ({ rabbitmq_version: version } = (await broker.management.call("GET", "/overview")) as { rabbitmq_version: string });
}, 240_000);

async function connected(): Promise<Session> {
  losses = [];
  const connection = new SupervisedConnection(brokerSettings(broker.amqpUrl), {
    build: async (session) => {
      await session.declareExchange({ name: "unacked.start", type: "direct" });
      await session.declare(QUEUE);
    },
    onLost: (_generation, { detail }) => void losses.push(detail),
  });
  connection.start();
  onTestFinished(() => connection.close());
  await connection.up();
  return connection.session as Session;
}

test("a classic work queue whose node is down is neither gone for a manager nor declared anew by a service: both say why", async (context) => {
  // Later versions keep queues elsewhere.
  if (!version.startsWith("3.")) context.skip();
  const session = await connected();
  const queues = new WorkQueues(() => session, "classic", keptLog());
  await queues.ensure("default");
  const [ours, managers, fresh] = [true, false, true].map((isOurs) => new ConsumedQueue(QUEUE, isOurs));
  await ours?.untilThere(session, () => undefined);

  await rabbitmqctl(broker.dir, "eval", HOME_IS_DOWN);
  await expect(queues.look("default")).rejects.toThrow("is down or inaccessible");
  expect(queues.troubles).toEqual([]); // a look aside: it may be a pool that nobody wants
  await expect(queues.ensure("default")).resolves.toBeUndefined();
  expect(await queues.depths(["default"])).toEqual([]);
  expect(queues.troubles).toMatchObject([{ pool: "default", detail: expect.stringContaining("is down or inaccessible") }]);
  const told: LossReason[] = [];
  let found = 0;
  const beganMs = performance.now();
  const waits = [ours, managers, fresh].map(async (queue) => {
    await queue?.untilThere(session, (_name, why) => void told.push(why));
    found += 1;
  });
  await eventually(() => expect(performance.now() - beganMs).toBeGreaterThan(2 * TOLD_WITHIN_MS));
  expect(losses).toEqual([]);
  expect(told.map(({ detail }) => detail)).toEqual(Array(3).fill(expect.stringContaining("is down or inaccessible")));
  expect(found).toBe(0);

  await rabbitmqctl(broker.dir, "eval", HOME_IS_BACK);
  await Promise.all(waits);
  expect(losses).toEqual([]);
});

test("a service whose work queue is out of reach is connected all the same, without a limit of time, and takes work when it is back", async (context) => {
  if (!version.startsWith("3.")) context.skip();
  await connected();
  const taken: string[] = [];
  const lost: string[] = [];
  const log = createLog("silent");
  const topology = new Topology({
    serviceId: "service-1" as ServiceId,
    pool: "default",
    queueType: "classic",
    declaresAll: true,
    hasTasks: () => false,
  });
  const work = new WorkQueue({
    identity: { serviceId: "service-1", serviceName: "service-1", pool: "default", workerCount: 1 },
    topology,
    consumer: { begin: async (_: Session, queue: string) => void taken.push(queue), lost: () => undefined },
    proveBy: () => undefined,
    log,
  } as unknown as WorkQueueParts);
  const generations = new Generations({
    settings: brokerSettings(broker.amqpUrl),
    topology,
    work,
    lease: {
      begin: async () => undefined,
      sessionLost: async (_: number, { detail }: LossReason) => void lost.push(detail),
    },
    voice: { introduction: () => ({}), tell: (_: unknown, confirmed?: () => void) => confirmed?.() },
    publisher: { blocked: () => new Promise(() => undefined) },
    events: { enterGeneration: () => undefined },
    tasks: { begin: async () => undefined, sessionLost: () => undefined },
    log,
  } as unknown as GenerationsParts);
  await rabbitmqctl(broker.dir, "eval", HOME_IS_DOWN);
  generations.start();
  onTestFinished(() => generations.close());
  await eventually(() => expect(generations.status.up).toBe(true));
  await expect(work.look()).rejects.toThrow("no work is taken"); // the question would cost the session
  await generations.stayReachable();
  expect(taken).toEqual([]);

  await rabbitmqctl(broker.dir, "eval", HOME_IS_BACK);
  await eventually(() => expect(taken).toEqual([QUEUE.name]));
  await eventually(() => work.look());
  expect(lost).toEqual([]);
});
