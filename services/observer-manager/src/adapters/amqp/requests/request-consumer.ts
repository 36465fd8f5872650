import { setTimeout as delay } from "node:timers/promises";
import type { Delivery, Session } from "@unacked/broker";
import { REQUEST_QUEUE } from "@unacked/contracts";
import type { ErrorBook, NewError } from "../../../operations/books/books-store.ts";
import type { Log } from "../../../operations/log.ts";
import type { AdmittedRequest, RequestAnswer } from "../../../operations/requests/request.ts";
import type { RequestDesk } from "../../../operations/requests/request-desk.ts";
import { MAX_REQUEST_BYTES, type RequestGate } from "../../../operations/requests/request-gate.ts";
import type { RequestTally } from "../../../operations/tally.ts";
import { QueueReader } from "../deliveries/queue-reader.ts";
import { readTogether } from "../deliveries/read-together.ts";
import { unreadableMessage } from "../deliveries/unreadable-message.ts";
import { RequestBacklog } from "./request-backlog.ts";
import type { RequestReplies } from "./request-replies.ts";

/**
 * Waiting requests are kept as they came, each at most as large as a request may be: larger ones are released when they
 * come.
 */
const PREFETCH = 100;
const MAX_BATCH = 50;
/** How much is read at once. At least one request is. */
const MAX_READ_BYTES = 2 * MAX_REQUEST_BYTES;
const MAX_DETAIL = 1_000;
const RETRY_MS = 250;
/** A manager that cannot decide for this long lets another one try: the queue has a single active consumer. */
const GIVE_UP_MS = 5_000;

export interface RequestConsumerParts {
  gate: RequestGate;
  desk: RequestDesk;
  replies: RequestReplies;
  errors: ErrorBook;
  tally: RequestTally;
  /** The name of this manager, for the errors that it records. */
  reporter: string;
  log: Log;
}

interface Received {
  admitted: AdmittedRequest | RequestAnswer;
  correlationId: string | undefined;
  /** The request as an error, for the case that it has to be recorded as one. */
  asError: Omit<NewError, "reporter">;
}

/**
 * Receives requests. Guarantees: each is acked only after it is decided and the broker has its answer, or it is recorded as an
 * error. A crash in the middle leaves it unacked, and when it comes again it is answered the same.
 */
export class RequestConsumer {
  readonly #parts: RequestConsumerParts;
  readonly #reader = new QueueReader({
    queue: REQUEST_QUEUE,
    prefetch: PREFETCH,
    maxBatch: MAX_BATCH,
    onDelivery: (delivery) => {
      if (delivery.body.length > MAX_REQUEST_BYTES) this.#received.set(delivery, this.#read(delivery));
    },
    handle: (deliveries, lost) => this.#handle(deliveries, lost),
  });
  readonly #received = new WeakMap<Delivery, Received>();
  #backlog: RequestBacklog | undefined;

  constructor(parts: RequestConsumerParts) {
    this.#parts = parts;
  }

  begin(session: Session): Promise<void> {
    this.#backlog = new RequestBacklog(session, PREFETCH);
    return this.#reader.begin(session);
  }

  /** How many requests are here. */
  get held(): number {
    return this.#reader.size;
  }

  #read(delivery: Delivery): Received {
    const { userId: user, messageId, replyTo, correlationId = messageId } = delivery.properties;
    const { body, redelivered } = delivery;
    const hasWaited = this.#backlog?.take() || redelivered;
    const admitted = this.#parts.gate.admit({ user, messageId, replyTo, body, hasWaited });
    const asError = unreadableMessage(delivery, "");
    delivery.shed();
    return { admitted, correlationId, asError };
  }

  async #handle(deliveries: Delivery[], lost: AbortSignal): Promise<void> {
    try {
      await this.#backlog?.count(() => this.held);
      for (const some of readTogether(deliveries, MAX_READ_BYTES)) {
        if (lost.aborted) return;
        await this.#handleSome(some, lost);
      }
    } catch (error) {
      if (lost.aborted) return; // requests that are not acked come again
      this.#parts.log.error({ err: error }, "requests could not be answered");
      this.#reader.end("requests could not be answered");
    }
  }

  async #handleSome(deliveries: readonly Delivery[], lost: AbortSignal): Promise<void> {
    const received = deliveries.map((delivery) => this.#received.get(delivery) ?? this.#read(delivery));
    for (let done = 0; done < received.length; ) {
      const answers = await this.#decide(received.slice(done), lost);
      if (answers === undefined) return;
      await Promise.all(answers.map((answer, i) => this.#answer(answer, received[done + i] as Received, lost)));
      for (const delivery of deliveries.slice(done, (done += answers.length))) delivery.settle("ack");
    }
  }

  /** @returns of the first of these, one at least: as many as the desk decides at once; undefined: the session is lost */
  async #decide(received: Received[], lost: AbortSignal): Promise<RequestAnswer[] | undefined> {
    const { desk, errors, log } = this.#parts;
    const giveUpAt = performance.now() + GIVE_UP_MS;
    while (!lost.aborted) {
      try {
        const decided = await desk.decide(received.map(({ admitted }) => admitted).filter(isAdmitted));
        const answers = inOrder(received, decided);
        await errors.record(answers.flatMap((answer, i) => this.#errorOf(answer, received[i] as Received)));
        return answers;
      } catch (error) {
        log.warn({ err: error }, "requests could not be decided, trying again");
        if (performance.now() > giveUpAt) this.#reader.end("requests could not be decided: another manager may try");
        await delay(RETRY_MS);
      }
    }
    return undefined;
  }

  async #answer({ outcome, user, reply }: RequestAnswer, { correlationId }: Received, lost: AbortSignal): Promise<void> {
    const { replies, tally } = this.#parts;
    const isTold = reply === undefined || (await replies.send(reply, correlationId, lost));
    tally.answered(user, outcome, isTold);
  }

  #errorOf({ unheard, ...answer }: RequestAnswer, { asError }: Received): NewError[] {
    const error = answer.error ?? (unheard === undefined ? undefined : this.#parts.gate.unheard(unheard));
    if (error === undefined) return [];
    const { reason, detail } = error;
    return [{ ...asError, reason, detail: detail.slice(0, MAX_DETAIL), reporter: this.#parts.reporter }];
  }
}

/** The outcomes in the order of the requests, as far as they are known. */
function inOrder(received: readonly Received[], decided: ReadonlyMap<AdmittedRequest, RequestAnswer>): RequestAnswer[] {
  const answers = received.map(({ admitted }) => (isAdmitted(admitted) ? decided.get(admitted) : admitted));
  const end = answers.indexOf(undefined);
  return (end < 0 ? answers : answers.slice(0, end)) as RequestAnswer[];
}

const isAdmitted = (one: AdmittedRequest | RequestAnswer): one is AdmittedRequest => "wanted" in one;
