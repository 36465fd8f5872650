import { SupervisedConnection } from "@unacked/broker";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { Caution } from "../../services/observer-service/src/keeper/intake/caution.ts";
import { WorkConsumer } from "../../services/observer-service/src/keeper/intake/work-consumer.ts";
import { createLog } from "../../services/observer-service/src/log.ts";
import { brokerSettings, queueNamed } from "../support/broker/broker-client.ts";
import { eventually } from "../support/eventually.ts";
import { type FreshVhost, freshVhost } from "../support/servers/servers.ts";

const WORKERS = 100;
const HEARTBEAT_MS = 4_000;

let vhost: FreshVhost;
beforeAll(async () => {
  vhost = await freshVhost();
});

/** What a service consumes with, of a real queue that holds as much as it has workers; its proofs are answered by hand. */
async function consumerOf(queue: string, caution: Caution, { begun = true } = {}) {
  let given = 0;
  let asked = 0;
  let underWay = begun ? 0 : 5; // more than a quarter of the first window
  const work: WorkConsumer = new WorkConsumer({
    workers: WORKERS,
    running: () => given,
    memory: undefined,
    caution,
    underWay: () => underWay,
    prove: () => {
      asked += 1;
    },
    collect: () => undefined,
    onDelivery: () => {
      given += 1;
    },
    onChange: () => undefined,
    log: createLog("silent"),
  });
  const connection = new SupervisedConnection(brokerSettings(vhost.amqpUrl), {
    build: async (session) => {
      await session.declare(queueNamed(queue));
      await work.begin(session, queue);
    },
    onLost: () => work.lost(),
  });
  connection.start();
  onTestFinished(() => connection.close());
  await connection.up();
  for (let i = 0; i < WORKERS; i += 1)
    await vhost.management.publish({ exchange: "test.direct", routingKey: queue, body: `${i}` });
  /** To a proof that was sent now, when it has been asked for. */
  const answer = async (tookMs: number) => {
    asked = 0;
    await eventually(() => expect(asked).toBeGreaterThan(0));
    work.answered({ sentAtMs: performance.now(), tookMs, heartbeatMs: HEARTBEAT_MS });
  };
  const begins = () => {
    underWay = 4;
  };
  return { work, given: () => given, asked: () => asked, answer, begins };
}

test("after a lease lost for slowness the real broker gives a window, and the next for each answer that is newer than it", async () => {
  const caution = new Caution(WORKERS);
  caution.leaseLost("deadline-passed", performance.now());
  const { work, given, asked, answer, begins } = await consumerOf("careful", caution, { begun: false });
  await eventually(() => expect(given()).toBe(16));
  await eventually(() =>
    expect([work.isConsuming, work.pausedFor]).toEqual([false, expect.stringContaining("when the broker has answered")]),
  );
  expect([given(), asked()], "nothing is asked before it has begun").toEqual([16, 0]);
  begins();
  work.answered({ sentAtMs: 0, tookMs: 1, heartbeatMs: HEARTBEAT_MS }); // to a proof of before
  await answer(1);
  await eventually(() => expect(given()).toBe(16 + 32));
  await answer(0.2 * HEARTBEAT_MS);
  await eventually(() => expect(given()).toBe(16 + 32 + 32));
  await answer(1);
  await eventually(() => expect(given()).toBe(WORKERS));
  expect(work.pausedFor).toBeUndefined();
});

test("one that was never too slow is given all at once, and asks for no answers", async () => {
  const { work, given, asked } = await consumerOf("at-ease", new Caution(WORKERS));
  await eventually(() => expect(given()).toBe(WORKERS));
  expect([asked(), work.isConsuming]).toEqual([0, true]);
});
