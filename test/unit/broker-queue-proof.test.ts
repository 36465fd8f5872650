import { EventEmitter } from "node:events";
import type { Channel, ConsumeMessage } from "amqplib";
import { expect, test } from "vitest";
import { QueueMissingError, QueueProof } from "../../libs/broker/src/queue-proof.ts";

/** @param meanwhile what the broker sends the proof's consumer before it has left */
function proofOf(meanwhile: (consumer: (message: ConsumeMessage | null) => void) => void) {
  const settled: string[] = [];
  let consumer: (message: ConsumeMessage | null) => void;
  const channel = Object.assign(new EventEmitter(), {
    prefetch: async () => ({}),
    consume: async (_queue: string, onMessage: typeof consumer) => {
      consumer = onMessage;
      return { consumerTag: "proof" };
    },
    cancel: async () => meanwhile(consumer),
    ack: ({ content }: ConsumeMessage) => settled.push(`ack ${content}`),
    nack: ({ content }: ConsumeMessage) => settled.push(`nack ${content}`),
  });
  const proof = new QueueProof({ openChannel: async () => channel as unknown as Channel, reply: (_, pending) => pending });
  return { proof, settled };
}

const message = (body: string) => ({ content: Buffer.from(body), properties: { type: "StartObserver" } }) as ConsumeMessage;

test("A queue that is deleted between the two answers of a proof has not answered: what was held of it is held for nobody", async () => {
  const { proof, settled } = proofOf((consumer) => {
    consumer(message("job"));
    consumer(null);
  });
  await expect(proof.take("gone", () => "requeue")).rejects.toThrow(QueueMissingError);
  expect(settled).toEqual(["nack job"]);
});

test("A queue that gives a proof a message has answered, and has the message back", async () => {
  const { proof, settled } = proofOf((consumer) => consumer(message("job")));
  await proof.take("there", () => "requeue");
  expect(settled).toEqual(["nack job"]);
});
