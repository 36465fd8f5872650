import { EXCHANGES, newMessageId, type ServiceEvent, STATE_KEY } from "@unacked/contracts";
import type { ServiceIdentity } from "../identity.ts";
import { type Batch, Outbox } from "./outbox.ts";
import { type PublishTools, publishUntilConfirmed } from "./publish-until-confirmed.ts";

/**
 * Receives events, in the order they happened. Guarantees: they reach the state queue in that order, numbered without a gap,
 * each batch sent again until it is confirmed; `onConfirmed` is called only then. A crash loses what was not confirmed, but
 * no message whose end is among that has been acked.
 */
export class EventSender {
  readonly #outbox = new Outbox();
  readonly #identity: () => ServiceIdentity;
  readonly #tools: PublishTools;
  readonly #closing = new AbortController();
  #generation = 0;
  #wake: (() => void) | undefined;
  #onEmpty = new Set<() => void>();
  readonly #onTold: (event: ServiceEvent) => void;

  constructor(identity: () => ServiceIdentity, tools: PublishTools, onTold: (event: ServiceEvent) => void) {
    this.#identity = identity;
    this.#tools = tools;
    this.#onTold = onTold;
  }

  /** Events from now on belong to this generation. */
  enterGeneration(generation: number): void {
    this.#generation = generation;
  }

  /** How many events wait or are on their way. */
  get waiting(): number {
    return this.#outbox.size;
  }

  tell(event: ServiceEvent, onConfirmed?: () => void): void {
    this.#onTold(event);
    this.#outbox.add({ event, generation: this.#generation, onConfirmed });
    this.#wake?.();
  }

  /** Sends until `close`, and then resolves. */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const batch = this.#outbox.next();
      if (batch === undefined) await this.#nextEvent();
      else await this.#deliver(batch, signal);
    }
  }

  /** Resolves when every event so far, and those that come meanwhile, are confirmed. */
  emptied(): Promise<void> {
    if (this.#outbox.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.add(resolve));
  }

  close(): void {
    this.#closing.abort();
    this.#wake?.();
  }

  async #deliver(batch: Batch, signal: AbortSignal): Promise<void> {
    const { seq, generation, eventsJson } = batch;
    const identity = this.#identity();
    const header = JSON.stringify({ kind: "EventBatch", ...identity, generation, seq });
    const message = {
      exchange: EXCHANGES.events.name,
      routingKey: STATE_KEY,
      type: "EventBatch",
      messageId: newMessageId(),
      appId: identity.serviceId,
      // The events were written as JSON when the batch was measured.
      body: Buffer.from(`${header.slice(0, -1)},"events":${eventsJson}}`),
    };
    try {
      await publishUntilConfirmed(message, this.#tools, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#outbox.confirmed();
    if (this.#outbox.size > 0) return;
    for (const resolve of this.#onEmpty) resolve();
    this.#onEmpty.clear();
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        // Waits a turn, so that events of one turn are sent together.
        setImmediate(resolve);
      };
      if (this.#closing.signal.aborted) this.#wake();
    });
  }
}
