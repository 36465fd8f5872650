import type { Delivery, Session } from "@unacked/broker";
import { decodeList, type EventBatch, STATE_QUEUE, StateMessage } from "@unacked/contracts";
import type { ReceivedMessage } from "../../../domain/books/received-message.ts";
import type { NewError } from "../../../operations/books/books-store.ts";
import type { Ledger } from "../../../operations/books/ledger.ts";
import type { Log } from "../../../operations/log.ts";
import { LongMessages } from "../deliveries/long-messages.ts";
import type { MessageTracing } from "../deliveries/message-tracing.ts";
import { Portions } from "../deliveries/portions.ts";
import { QueueReader } from "../deliveries/queue-reader.ts";
import { readTogether } from "../deliveries/read-together.ts";
import { Retries } from "../deliveries/retries.ts";
import { unreadableMessage } from "../deliveries/unreadable-message.ts";
import { PendingDeaths } from "./pending-deaths.ts";

/** A service's messages have 256 KiB at most, those of older ones a MiB. All that are taken ahead are in memory. */
const PREFETCH = 400;
/** While half of them are applied, the other half comes. */
const MAX_BATCH = 200;

export interface StateConsumerParts {
  ledger: Ledger;
  log: Log;
  /** Undefined means that nothing is traced. */
  tracing: MessageTracing | undefined;
  /** Called after each commit that may have written commands. */
  committed(): void;
  /** Notes that everything before these markers in the state queue has been stored. */
  markerRead(markerIds: string[]): Promise<void>;
  /** Called with the pool of each service that is born. */
  born(pool: string): void;
}

/**
 * Receives the messages of the state queue. Guarantee: a message is acked only after its events are stored, or recorded as
 * errors. A crash in the middle leaves it unacked; its redelivery is known by its sequence number.
 */
export class StateConsumer {
  readonly #parts: StateConsumerParts;
  readonly #long = new LongMessages();
  readonly #reader = new QueueReader({
    queue: STATE_QUEUE,
    prefetch: PREFETCH,
    maxBatch: MAX_BATCH,
    onDelivery: this.#long.shed,
    handle: (deliveries, lost) => this.#handle(deliveries, lost),
  });
  readonly #deaths = new PendingDeaths((delivery) => this.#reader.again(delivery));
  readonly retries = new Retries();
  readonly #portions = new Portions();

  constructor(parts: StateConsumerParts) {
    this.#parts = parts;
  }

  async begin(session: Session): Promise<void> {
    this.#deaths.begin(session.lost);
    await this.#reader.begin(session);
  }

  get isIdle(): boolean {
    return this.#reader.isIdle;
  }

  /** How many messages were delivered to this manager and are not applied yet. */
  get held(): number {
    return this.#reader.size;
  }

  async #handle(deliveries: Delivery[], lost: AbortSignal): Promise<void> {
    const apply = async (portion: readonly Read[]): Promise<void> => {
      await this.#apply(portion);
      this.retries.succeeded();
    };
    const failed = (error: unknown, { length: messages }: readonly Read[]): void => {
      this.retries.failed(error);
      this.#parts.log.warn({ err: error, messages }, "events could not be applied, trying again");
    };
    const giveUp = () => this.#reader.end("events could not be applied: another manager may try");
    for (const some of readTogether(deliveries)) {
      if (lost.aborted) return;
      await this.#portions.apply(this.#read(some), { apply, failed, giveUp }, lost);
    }
  }

  async #apply(portion: readonly Read[]): Promise<void> {
    const { ledger, markerRead, tracing, born, committed } = this.#parts;
    const beganAtMs = Date.now();
    const messages = portion.flatMap(({ message }) => message ?? []);
    const unreadable = portion.flatMap((one) => one.unreadable ?? []);
    const wroteCommands = await ledger.apply(messages, unreadable, this.#deaths.isPending);
    // Markers come after what stood before them in the queue.
    const markers = portion.flatMap(({ markerId }) => markerId ?? []);
    if (markers.length > 0) await markerRead(markers);
    for (const { delivery } of portion) {
      delivery.settle("ack");
      delivery.shed(); // its batch is held until all of it is applied
    }
    for (const message of messages) if (message.kind === "DeathCertificate") this.#deaths.applied(message);
    tracing?.inBooks(messages, beganAtMs);
    for (const pool of bornIn(messages)) born(pool);
    if (wroteCommands) committed();
  }

  /** Reads the messages that are to be applied now. */
  #read(deliveries: Delivery[]): Read[] {
    return deliveries.flatMap((delivery): Read[] => {
      const tooLong = this.#long.errorOf(delivery);
      if (tooLong !== undefined) return [{ delivery, events: 1, unreadable: tooLong }];
      const decoded = decodeList(StateMessage, "events", delivery.body);
      if (!decoded.ok) return [{ delivery, events: 1, unreadable: unreadableMessage(delivery, decoded.reason) }];
      const { value } = decoded;
      if (value.kind === "StateMarker") return [{ delivery, events: 0, markerId: value.markerId }];
      if (value.kind === "EventBatch")
        return [{ delivery, events: value.events.length, message: { ...value, leftOut: decoded.leftOut } }];
      if (this.#deaths.defer(delivery, value)) return [];
      return [{ delivery, events: 1, message: value }];
    });
  }
}

/** A message that was read: exactly one of its three kinds. */
interface Read {
  readonly delivery: Delivery;
  /** How many events it holds. */
  readonly events: number;
  readonly message?: ReceivedMessage;
  readonly unreadable?: Omit<NewError, "reporter">;
  readonly markerId?: string;
}

/** The pools of services that have just been born. */
function bornIn(messages: ReceivedMessage[]): Set<string> {
  const births = messages.filter(
    (message) => message.kind === "EventBatch" && message.events.some(({ kind }) => kind === "ServiceBorn"),
  );
  return new Set(births.map((message) => (message as EventBatch).pool));
}
