import { setTimeout as delay } from "node:timers/promises";
import type { Delivery, Session } from "@unacked/broker";
import { decodeList, type EventBatch, STATE_QUEUE, StateMessage } from "@unacked/contracts";
import type { ReceivedMessage } from "../../../domain/books/received-message.ts";
import type { NewError } from "../../../operations/books/books-store.ts";
import type { Ledger } from "../../../operations/books/ledger.ts";
import type { Log } from "../../../operations/log.ts";
import { DeliveryBatches } from "../deliveries/delivery-batches.ts";
import { ForgottenConsumer } from "../deliveries/forgotten-consumer.ts";
import type { MessageTracing } from "../deliveries/message-tracing.ts";
import { Retries } from "../deliveries/retries.ts";
import { unreadableMessage } from "../deliveries/unreadable-message.ts";
import { PendingDeaths } from "./pending-deaths.ts";

const PREFETCH = 2_000;
const MAX_BATCH = 500;
const RETRY_MS = 250;
/** A manager that cannot apply events for this long lets another one try: the queue has a single active consumer. */
const GIVE_UP_MS = 5_000;

export interface StateConsumerParts {
  ledger: Ledger;
  log: Log;
  /** Undefined: nothing is traced. */
  tracing: MessageTracing | undefined;
  /** Told after each commit that may have written commands. */
  committed(): void;
  /** Notes that the books have read what stood before these markers in the state queue. */
  markerRead(markerIds: string[]): Promise<void>;
  /** Told of the pool of each service that is born. */
  born(pool: string): void;
}

/**
 * What comes in: messages of the state queue. It guarantees: a message is acked only after its events stand in the books,
 * or in the errors. A crash in the middle leaves it unacked; its redelivery is known by its sequence number.
 */
export class StateConsumer {
  readonly #parts: StateConsumerParts;
  readonly #batches = new DeliveryBatches(MAX_BATCH, (deliveries, lost) => this.#handle(deliveries, lost));
  readonly #deaths = new PendingDeaths((delivery) => this.#batches.add(delivery));
  readonly retries = new Retries();
  readonly #forgotten = new ForgottenConsumer(STATE_QUEUE, () => this.#batches.isIdle);
  #session: Session | undefined;

  constructor(parts: StateConsumerParts) {
    this.#parts = parts;
  }

  async begin(session: Session): Promise<void> {
    this.#session = session;
    this.#batches.begin(session.lost);
    this.#deaths.begin(session.lost);
    await session.consume(STATE_QUEUE, { prefetch: PREFETCH }, (delivery) => {
      this.#forgotten.delivered();
      this.#batches.add(delivery);
    });
    this.#forgotten.begin(session);
  }

  get isIdle(): boolean {
    return this.#batches.isIdle;
  }

  /** Messages that were delivered to this manager and are not applied yet. */
  get held(): number {
    return this.#batches.size;
  }

  async #handle(deliveries: Delivery[], lost: AbortSignal): Promise<void> {
    const { taken, messages, unreadable, markers } = this.#read(deliveries);
    if (taken.length === 0) return;
    const giveUpAt = performance.now() + GIVE_UP_MS;
    while (!lost.aborted) {
      const beganAtMs = Date.now();
      try {
        const wroteCommands = await this.#parts.ledger.apply(messages, unreadable, this.#deaths.isPending);
        // Behind what stood before them in the queue.
        if (markers.length > 0) await this.#parts.markerRead(markers);
        this.retries.succeeded();
        for (const delivery of taken) delivery.settle("ack");
        for (const message of messages) if (message.kind === "DeathCertificate") this.#deaths.applied(message);
        this.#parts.tracing?.inBooks(messages, beganAtMs);
        for (const pool of bornIn(messages)) this.#parts.born(pool);
        if (wroteCommands) this.#parts.committed();
        return;
      } catch (error) {
        this.retries.failed(error);
        this.#parts.log.warn({ err: error }, "events could not be applied, trying again");
        if (performance.now() > giveUpAt) this.#session?.end("events could not be applied: another manager may try");
        await delay(RETRY_MS);
      }
    }
  }

  /** Those that are to be applied now, read. */
  #read(deliveries: Delivery[]) {
    const taken: Delivery[] = [];
    const messages: ReceivedMessage[] = [];
    const unreadable: Omit<NewError, "reporter">[] = [];
    const markers: string[] = [];
    for (const delivery of deliveries) {
      const decoded = decodeList(StateMessage, "events", delivery.body);
      if (decoded.ok && decoded.value.kind === "DeathCertificate" && this.#deaths.defer(delivery, decoded.value)) continue;
      taken.push(delivery);
      if (!decoded.ok) unreadable.push(unreadableMessage(delivery, decoded.reason));
      else if (decoded.value.kind === "StateMarker") markers.push(decoded.value.markerId);
      else if (decoded.value.kind === "DeathCertificate") messages.push(decoded.value);
      else messages.push({ ...decoded.value, leftOut: decoded.leftOut });
    }
    return { taken, messages, unreadable, markers };
  }
}

/** The pools of services that introduce themselves. */
function bornIn(messages: ReceivedMessage[]): Set<string> {
  const births = messages.filter(
    (message) => message.kind === "EventBatch" && message.events.some(({ kind }) => kind === "ServiceBorn"),
  );
  return new Set(births.map((message) => (message as EventBatch).pool));
}
