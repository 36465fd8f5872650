import { setTimeout as delay } from "node:timers/promises";
import type { Delivery, Session } from "@unacked/broker";
import { REQUEST_QUEUE } from "@unacked/contracts";
import type { ErrorBook, NewError } from "../../../operations/books/books-store.ts";
import type { Log } from "../../../operations/log.ts";
import type { RequestDesk } from "../../../operations/requests/request-desk.ts";
import type { RequestGate } from "../../../operations/requests/request-gate.ts";
import type { AdmittedRequest, RequestAnswer } from "../../../operations/requests/task-request.ts";
import type { RequestTally } from "../../../operations/tally.ts";
import { DeliveryBatches } from "../deliveries/delivery-batches.ts";
import { unreadableMessage } from "../deliveries/unreadable-message.ts";
import type { RequestReplies } from "./request-replies.ts";

/** So many bodies are in memory at most; the broker says how large one may be (max_message_size). */
const PREFETCH = 20;
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
  /** This manager, named with the errors it records. */
  reporter: string;
  log: Log;
}

/**
 * Comes in: requests. Guarantees: each is acked only after it is decided and its answer is with the broker, or it stands among the
 * errors. A crash in the middle leaves it unacked, and what comes again is answered the same.
 */
export class RequestConsumer {
  readonly #parts: RequestConsumerParts;
  readonly #batches = new DeliveryBatches(PREFETCH, (deliveries, lost) => this.#handle(deliveries, lost));
  #session: Session | undefined;

  constructor(parts: RequestConsumerParts) {
    this.#parts = parts;
  }

  async begin(session: Session): Promise<void> {
    this.#session = session;
    this.#batches.begin(session.lost);
    await session.consume(REQUEST_QUEUE, { prefetch: PREFETCH }, (delivery) => this.#batches.add(delivery));
  }

  async #handle(deliveries: Delivery[], lost: AbortSignal): Promise<void> {
    const admitted = deliveries.map((delivery) => this.#admit(delivery));
    const answers = await this.#decide(deliveries, admitted, lost);
    if (answers === undefined) return;
    const told = await Promise.all(answers.map((answer, i) => this.#answer(answer, deliveries[i] as Delivery, lost))).catch(
      () => undefined, // the session is lost: all of them come again
    );
    if (told !== undefined) for (const delivery of deliveries) delivery.settle("ack");
  }

  #admit({ body, properties }: Delivery): AdmittedRequest | RequestAnswer {
    const { userId: user, messageId, replyTo } = properties;
    return this.#parts.gate.admit({ user, messageId, replyTo, body });
  }

  /** @returns undefined: the session is lost */
  async #decide(
    deliveries: Delivery[],
    admitted: (AdmittedRequest | RequestAnswer)[],
    lost: AbortSignal,
  ): Promise<RequestAnswer[] | undefined> {
    const { desk, errors, log } = this.#parts;
    const giveUpAt = performance.now() + GIVE_UP_MS;
    while (!lost.aborted) {
      try {
        const decided = await desk.decide(admitted.filter(isAdmitted));
        const answers = admitted.map((one) => (isAdmitted(one) ? (decided.get(one) as RequestAnswer) : one));
        await errors.record(answers.flatMap((answer, i) => this.#errorOf(answer, deliveries[i] as Delivery)));
        return answers;
      } catch (error) {
        log.warn({ err: error }, "requests could not be decided, trying again");
        if (performance.now() > giveUpAt) this.#session?.end("requests could not be decided: another manager may try");
        await delay(RETRY_MS);
      }
    }
    return undefined;
  }

  async #answer({ outcome, user, reply }: RequestAnswer, { properties }: Delivery, lost: AbortSignal): Promise<void> {
    const { replies, tally } = this.#parts;
    const { correlationId, messageId } = properties;
    const isTold = reply === undefined || (await replies.send(reply, correlationId ?? messageId, lost));
    tally.answered(user, outcome, isTold);
  }

  #errorOf({ error }: RequestAnswer, delivery: Delivery): NewError[] {
    if (error === undefined) return [];
    const { reason, detail } = error;
    return [{ ...unreadableMessage(delivery, detail.slice(0, MAX_DETAIL)), reason, reporter: this.#parts.reporter }];
  }
}

const isAdmitted = (one: AdmittedRequest | RequestAnswer): one is AdmittedRequest => "tasks" in one;
