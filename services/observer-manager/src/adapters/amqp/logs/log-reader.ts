import { randomUUID } from "node:crypto";
import { PublishError, type Publisher, type Session } from "@unacked/broker";
import {
  decodeBody,
  EXCHANGES,
  generationKey,
  LogReply,
  newMessageId,
  type ReadLogs,
  replyKey,
  replyQueue,
} from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import type { LogAnswer, LogQuestion, LogReader } from "../../../operations/logs/log-source.ts";

const ANSWER_WITHIN_MS = 2_000;
const PREFETCH = 100;

/**
 * Asks one service, and receives its answer on a queue of this connection. A question that is not answered in time is
 * forgotten, and so is an answer that comes later, or after the connection.
 */
export class AmqpLogReader implements LogReader {
  readonly #publisher: Publisher;
  readonly #managerId: string;
  readonly #log: Log;
  readonly #pending = new Map<string, (reply: LogReply) => void>();
  #replyTo: string | undefined;

  constructor(parts: { publisher: Publisher; managerId: string; log: Log }) {
    this.#publisher = parts.publisher;
    this.#managerId = parts.managerId;
    this.#log = parts.log;
  }

  /** Declares where answers come. Safe to repeat, as the exchange may be deleted meanwhile. */
  async declare(session: Session): Promise<void> {
    await session.declare(replyQueue(this.#managerId, session.generation));
  }

  /** Begins with a new session and ends with it. */
  async begin(session: Session): Promise<void> {
    await this.declare(session);
    const queue = replyQueue(this.#managerId, session.generation);
    await session.consume(queue.name, { prefetch: PREFETCH, noAck: true }, ({ body }) => this.#take(body));
    this.#replyTo = replyKey(this.#managerId, session.generation);
  }

  end(): void {
    this.#replyTo = undefined;
  }

  async ask({ serviceId, generation, ...question }: LogQuestion): Promise<LogAnswer> {
    const { up, blocked } = this.#publisher.status;
    if (this.#replyTo === undefined || !up || blocked) return "no-broker";
    const request: ReadLogs = { kind: "ReadLogs", requestId: randomUUID(), replyTo: this.#replyTo, ...question };
    const message = {
      exchange: EXCHANGES.service.name,
      routingKey: generationKey(serviceId, generation),
      type: request.kind,
      messageId: newMessageId(),
      appId: this.#managerId,
      persistent: false,
      body: request,
    };
    return new Promise<LogAnswer>((resolve) => {
      const settle = (answer: LogAnswer): void => {
        clearTimeout(timer);
        this.#pending.delete(request.requestId);
        resolve(answer);
      };
      const timer = setTimeout(() => settle("no-answer"), ANSWER_WITHIN_MS);
      this.#pending.set(request.requestId, settle);
      this.#publisher.publish(message).catch((error: unknown) => settle(isReturned(error) ? "gone" : "no-broker"));
    });
  }

  #take(body: Buffer): void {
    const decoded = decodeBody(LogReply, body);
    if (decoded.ok) this.#pending.get(decoded.value.requestId)?.(decoded.value);
    else
      this.#log.warn({ event: "unreadable-reply", reason: decoded.reason }, "an answer about log lines could not be read");
  }
}

const isReturned = (error: unknown): boolean => error instanceof PublishError && error.code === "returned";
