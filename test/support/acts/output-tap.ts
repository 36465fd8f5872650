import { SupervisedConnection } from "@unacked/broker";
import { EXCHANGES } from "@unacked/contracts";

/** One emitted event, as `unacked.output` carries it. */
export interface OutputMessage<E> {
  observerId: string;
  name: string;
  type: string;
  runId: string;
  at: number;
  event: E;
  /** Of the message. */
  headers: Readonly<Record<string, unknown>>;
}

export interface OutputTap<E> {
  /** Every message so far, in the order of the queue. `splice` it to begin with none. */
  readonly messages: OutputMessage<E>[];
  close(): Promise<void>;
}

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Binds a queue of its own to what observers emit; resolves when nothing emitted from now on can be missed. */
export async function tapOutput<E>(amqpUrl: string, routingKey: string): Promise<OutputTap<E>> {
  const messages: OutputMessage<E>[] = [];
  const connection = new SupervisedConnection(
    { url: amqpUrl, connectionName: "output-tap", heartbeatS: 10, log: SILENT },
    {
      build: async (session) => {
        const queue = `test.output.${session.generation}`;
        await session.declareExchange(EXCHANGES.output);
        const bindings = [{ exchange: EXCHANGES.output, routingKey }];
        await session.declare({ name: queue, durable: false, exclusive: true, arguments: {}, bindings });
        await session.consume(queue, { prefetch: 1_000 }, (delivery) => {
          const { headers } = delivery.properties;
          messages.push({ ...JSON.parse(delivery.body.toString()), headers } as OutputMessage<E>);
          delivery.settle("ack");
        });
      },
    },
  );
  connection.start();
  await connection.up();
  return { messages, close: () => connection.close() };
}
