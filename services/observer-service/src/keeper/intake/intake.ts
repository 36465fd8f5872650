import type { Delivery } from "@unacked/broker";
import {
  type DuplicateDropped,
  decodeBody,
  QueueMarker,
  type RunId,
  type ServiceEvent,
  StartObserver,
  type StartRefused,
} from "@unacked/contracts";
import { traceContextOf } from "@unacked/tracing";
import { endsForGood } from "../../wire/stop-cause.ts";
import { type ErrorWay, giveToErrors } from "../outbox/give-to-errors.ts";
import { heldBy } from "../runs/run-held.ts";
import type { Runner } from "../runs/runner.ts";
import { decideStart } from "./start-decision.ts";
import type { Tombstones } from "./tombstones.ts";
import { UnknownTypes } from "./unknown-types.ts";

export interface IntakeParts extends ErrorWay {
  readonly runner: Runner;
  readonly knowsType: (type: string) => boolean;
  /** Whether runs of this type ask before their handlers start. */
  readonly asksFirst: (type: string) => boolean;
  /** Whether runs of this type save how far they have got. */
  readonly saves: (type: string) => boolean;
  readonly tombstones: Tombstones;
  readonly events: { tell(event: ServiceEvent, onConfirmed?: () => void): void };
  /** Called when the broker has taken back what it had given to this generation. */
  readonly takenBack: (generation: number) => void;
  readonly isTraced?: boolean;
}

/**
 * Receives the deliveries of the work queue. Guarantees: each is run, or refused with an event (or an error report) that is
 * confirmed before the message is acked, or it stays unacked and the broker gives it to another. One bad message does not
 * disturb its neighbours. A crash in the middle leaves it unacked.
 */
export class Intake {
  readonly #parts: IntakeParts;
  readonly #unknownTypes = new UnknownTypes();
  #draining = false;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** From now on deliveries go straight back. */
  drain(): void {
    this.#draining = true;
  }

  /** Ends the drain. */
  goOn(): void {
    this.#draining = false;
  }

  take(delivery: Delivery): void {
    // This generation is fenced: its session is about to end, and with it the message goes back.
    if (!this.#parts.holds(delivery.generation)) return;
    if (this.#draining) return void delivery.settle("requeue");
    if (delivery.properties.type === "QueueMarker") return this.#takeMarker(delivery);
    const decoded = decodeBody(StartObserver, delivery.body);
    if (!decoded.ok) return void giveToErrors(delivery, decoded.reason, this.#parts);
    this.#decide(decoded.value, delivery);
  }

  /** A marker shows that everything before it in the queue has been given out. */
  #takeMarker(delivery: Delivery): void {
    const decoded = decodeBody(QueueMarker, delivery.body);
    if (!decoded.ok) return void giveToErrors(delivery, decoded.reason, this.#parts);
    const { markerId } = decoded.value;
    this.#parts.events.tell({ kind: "MarkerSeen", markerId, at: Date.now() }, () => this.#ack(delivery));
  }

  /** Notes a marker that came to a proof of life. @returns false if it cannot be read */
  noteMarker(body: Buffer): boolean {
    const decoded = decodeBody(QueueMarker, body);
    if (decoded.ok) this.#parts.events.tell({ kind: "MarkerSeen", markerId: decoded.value.markerId, at: Date.now() });
    return decoded.ok;
  }

  #decide(start: StartObserver, delivery: Delivery): void {
    const { runner, knowsType, tombstones, events, holds, log } = this.#parts;
    const { observerId, messageId, revision } = start;
    const { deliveryCount, generation } = delivery;
    const arrived = { revision, messageId, deliveryCount };
    const decision = decideStart(arrived, {
      knowsType: knowsType(start.type),
      isBuried: tombstones.refuses(observerId, revision, performance.now()),
      known: runner.runs.ofObserver(observerId).map((run) => ({
        runId: run.runId,
        revision: run.start.revision,
        messageId: run.start.messageId,
        deliveryCount: run.delivery.deliveryCount,
        live: holds(run.delivery.generation),
        ending: run.state.phase === "stopping" && endsForGood(run.state.cause),
      })),
    });
    const about = { observerId, messageId, revision, at: Date.now() };
    switch (decision.kind) {
      case "run":
        for (const runId of decision.obsolete) {
          const run = runner.runs.find(observerId, runId);
          if (run !== undefined) runner.stop(run, { kind: "obsolete" });
        }
        return this.#accept(start, delivery);
      case "refuse": {
        const refused: StartRefused = { kind: "StartRefused", ...about, reason: decision.reason };
        this.#logRefused(start, decision.reason);
        return events.tell(refused, () => this.#ack(delivery));
      }
      case "drop-duplicate": {
        const dropped: DuplicateDropped = { kind: "DuplicateDropped", ...about, keptRunId: decision.keptRunId };
        log.warn(
          { event: "duplicate-dropped", ...about, observer: start.name },
          "a second message of a revision that runs here was dropped",
        );
        events.tell(dropped, () => this.#ack(delivery));
        return this.#tellHolder(start, decision.keptRunId);
      }
      // It is neither acked nor given back before the old handler has settled, so it goes back with the session.
      case "taken-back":
        return this.#parts.takenBack(generation);
      default:
        return decision satisfies never;
    }
  }

  #logRefused({ observerId, name: observer, type, revision }: StartObserver, reason: StartRefused["reason"]): void {
    const fields = { event: "start-refused", observer, type, observerId, revision, reason };
    if (reason !== "unknown-type") return this.#parts.log.info(fields, "a start was refused");
    const times = this.#unknownTypes.note(type, performance.now());
    if (times === undefined) return;
    this.#parts.log.warn({ ...fields, times }, "a start was refused: no file here has its type, or it did not load");
  }

  /**
   * The manager may believe in the run of the second message, and have ordered the first to stop for it. This event, behind the drop,
   * corrects that.
   */
  #tellHolder({ observerId }: StartObserver, runId: RunId): void {
    const { runner, events } = this.#parts;
    const run = runner.runs.find(observerId, runId);
    const held = run && heldBy(run);
    if (held !== undefined) events.tell(held);
  }

  #accept(start: StartObserver, delivery: Delivery): void {
    const { runner, isTraced, asksFirst, saves } = this.#parts;
    const traceContext = isTraced ? traceContextOf(delivery.properties.headers) : undefined;
    delivery.shed();
    runner.accept({ start, delivery, traceContext, isAdmitted: asksFirst(start.type), hasCheckpoint: saves(start.type) });
  }

  #ack(delivery: Delivery): void {
    if (this.#parts.holds(delivery.generation)) delivery.settle("ack");
  }
}
