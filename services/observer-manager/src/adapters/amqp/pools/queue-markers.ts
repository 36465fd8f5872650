import type { Publisher } from "@unacked/broker";
import { EXCHANGES, newMessageId, type QueueMarker, STATE_KEY, type StateMarker } from "@unacked/contracts";
import type { MarkerSender } from "../../../operations/observers/absence-prover.ts";
import type { WorkQueues } from "./work-queues.ts";

type Marker = Parameters<MarkerSender["sendMarkers"]>[0];

export interface QueueMarkersParts {
  publisher: Publisher;
  workQueues: WorkQueues;
  managerId: string;
}

/** Sends the markers of a proof of absence (docs/decisions/0008-proof-of-absence.md) through the queues in which something may still stand. */
export class QueueMarkers implements MarkerSender {
  readonly #parts: QueueMarkersParts;

  constructor(parts: QueueMarkersParts) {
    this.#parts = parts;
  }

  async ready(pool: string): Promise<number | null> {
    const [work] = await this.#parts.workQueues.depths([pool]);
    return work?.ready ?? null;
  }

  async sendMarkers(marker: Marker): Promise<void> {
    const { pool, markerId } = marker;
    const body: QueueMarker = { kind: "QueueMarker", markerId, pool };
    await Promise.all([this.#sendMarker(marker, EXCHANGES.start.name, pool, body), this.sendStateMarker(marker)]);
  }

  sendStateMarker(marker: Marker): Promise<void> {
    const { pool, markerId } = marker;
    const body: StateMarker = { kind: "StateMarker", markerId, pool };
    return this.#sendMarker(marker, EXCHANGES.events.name, STATE_KEY, body);
  }

  #sendMarker({ livesMs }: Marker, exchange: string, routingKey: string, body: QueueMarker | StateMarker): Promise<void> {
    const common = { appId: this.#parts.managerId, persistent: false, expirationMs: livesMs };
    return this.#parts.publisher.publish({
      ...common,
      exchange,
      routingKey,
      body,
      type: body.kind,
      messageId: newMessageId(),
    });
  }
}
