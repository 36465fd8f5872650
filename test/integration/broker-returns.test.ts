import { expect, test } from "vitest";
import type { Consumer, Delivery } from "../../libs/broker/src/index.ts";
import { queueNamed, supervised } from "../support/broker/broker-client.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshVhost } from "../support/servers/servers.ts";

const COUNT = 5_000;
const QUEUE = "many";

test.runIf(isTurnOf(2))("thousands that are given back while somebody else takes them all arrive there, soon", async () => {
  const { amqpUrl, management } = await freshVhost();
  const consume = (name: string, onDelivery: (delivery: Delivery) => void) =>
    supervised(
      amqpUrl,
      {
        build: async (session) => {
          await session.declare(queueNamed(QUEUE));
          consumers.push(await session.consume(QUEUE, { prefetch: COUNT }, onDelivery));
        },
      },
      { connectionName: name },
    ).connection;
  const consumers: Consumer[] = [];
  const held: Delivery[] = [];
  const holder = consume("holder", (delivery) => void held.push(delivery));
  await holder.up();
  const bodies = Array.from({ length: COUNT }, (_, index) => `${index}`);
  for (let from = 0; from < COUNT; from += 50)
    await Promise.all(
      bodies.slice(from, from + 50).map((body) => management.publish({ exchange: "test.direct", routingKey: QUEUE, body })),
    );
  await eventually(() => expect(held).toHaveLength(COUNT));

  const taken = new Set<string>();
  const heir = consume("heir", (delivery) => void taken.add(delivery.body.toString()));
  await heir.up();
  await consumers[0]?.pause();
  const beganMs = performance.now();
  // As two slots end their handlers: one half in order, then the other.
  for (const half of [0, 1])
    for (const [index, delivery] of held.entries()) if (index % 2 === half) delivery.settle("requeue");
  await eventually(() => expect(taken.size).toBe(COUNT), { timeoutMs: 20_000 });
  console.log(`${COUNT} given back: ${taken.size} elsewhere after ${Math.round(performance.now() - beganMs)} ms`);
  await eventually(async () => expect(await management.queue(QUEUE)).toMatchObject({ ready: 0, unacked: COUNT }));
});
