import { Publisher, type Session, SupervisedConnection } from "@unacked/broker";
import { EXCHANGES, requestQueue } from "@unacked/contracts";
import type { AmqpSettings } from "../amqp-settings.ts";
import { Upkeep } from "../topology.ts";
import { RequestConsumer, type RequestConsumerParts } from "./request-consumer.ts";
import { RequestReplies } from "./request-replies.ts";

const CONFIRM_TIMEOUT_MS = 10_000;

/** The requests of other programs, and their answers, on two connections of their own, so that a refusal here harms nothing else. */
export class RequestBroker {
  readonly #publisher: Publisher;
  readonly #consumption: SupervisedConnection;
  readonly #consumer: RequestConsumer;

  constructor({ broker, queueType, managerId }: AmqpSettings, parts: Omit<RequestConsumerParts, "replies" | "reporter">) {
    this.#publisher = new Publisher(
      { ...broker, connectionName: "unacked-manager-requests-publish" },
      {
        confirmTimeoutMs: CONFIRM_TIMEOUT_MS,
        declare: (session) => session.declareExchange(EXCHANGES.requestReplies),
      },
    );
    const replies = new RequestReplies(this.#publisher, managerId, parts.log);
    const consumer = new RequestConsumer({ ...parts, replies, reporter: managerId });
    this.#consumer = consumer;
    const declare = async (session: Session): Promise<void> => {
      await session.declare(requestQueue(queueType));
      await session.declareExchange(EXCHANGES.requestReplies);
    };
    const upkeep = new Upkeep(declare);
    this.#consumption = new SupervisedConnection(
      { ...broker, connectionName: "unacked-manager-requests-consume" },
      {
        build: async (session) => {
          await declare(session);
          await consumer.begin(session);
          upkeep.begin(session);
        },
        onLost: () => upkeep.end(),
      },
    );
  }

  /** How many requests were received and are not answered. */
  get held(): number {
    return this.#consumer.held;
  }

  start(): void {
    this.#publisher.start();
    this.#consumption.start();
  }

  async close(): Promise<void> {
    await this.#consumption.close();
    await this.#publisher.close();
  }
}
