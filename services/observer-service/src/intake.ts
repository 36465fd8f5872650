import type { Delivery } from "@unacked/broker";
import { type DuplicateDropped, decodeBody, type ServiceEvent, StartObserver, type StartRefused } from "@unacked/contracts";
import type { ObserverDefinition } from "@unacked/sdk";
import { traceContextOf } from "@unacked/tracing";
import type { ErrorReporter } from "./error-reporter.ts";
import type { ObserverTypes } from "./load-observers.ts";
import type { Log } from "./log.ts";
import type { Runner } from "./runner.ts";
import { decideStart } from "./start-decision.ts";
import type { Tombstones } from "./tombstones.ts";

export interface IntakeParts {
  readonly runner: Runner;
  readonly types: ObserverTypes;
  readonly tombstones: Tombstones;
  readonly errors: Pick<ErrorReporter, "report">;
  readonly events: { tell(event: ServiceEvent, onConfirmed?: () => void): void };
  readonly holds: (generation: number) => boolean;
  readonly log: Log;
  readonly isTraced?: boolean;
  /** Aborts when the process ends. */
  readonly closing: AbortSignal;
}

/**
 * Comes in: a delivery of the work queue. Guarantees: it is run, or refused with an event (or an error report) that is
 * confirmed before the message is acked, or it stays unacked and the broker gives it to another. One bad message does not
 * disturb its neighbours. A crash in the middle leaves it unacked.
 */
export class Intake {
  readonly #parts: IntakeParts;
  #draining = false;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** From now on deliveries go straight back. */
  drain(): void {
    this.#draining = true;
  }

  take(delivery: Delivery): void {
    // Fenced: its session is about to end, and with it the message goes back.
    if (!this.#parts.holds(delivery.generation)) return;
    if (this.#draining) return void delivery.settle("requeue");
    const decoded = decodeBody(StartObserver, delivery.body);
    if (!decoded.ok) return void this.#refuseUnreadable(delivery, decoded.reason);
    this.#decide(decoded.value, delivery);
  }

  #decide(start: StartObserver, delivery: Delivery): void {
    const { runner, types, tombstones, events, holds, log } = this.#parts;
    const { observerId, messageId, revision } = start;
    const definition = types.get(start.type);
    const decision = decideStart(start, {
      knowsType: definition !== undefined,
      isBuried: tombstones.refuses(observerId, revision, performance.now()),
      known: runner.slots.ofObserver(observerId).map((run) => ({
        runId: run.runId,
        revision: run.start.revision,
        live: holds(run.delivery.generation),
      })),
    });
    const about = { observerId, messageId, revision, at: Date.now() };
    switch (decision.kind) {
      case "run":
        for (const runId of decision.obsolete) {
          const run = runner.slots.find(observerId, runId);
          if (run !== undefined) runner.stop(run, { kind: "obsolete" });
        }
        if (definition === undefined) return;
        return this.#accept(start, definition, delivery);
      case "refuse": {
        const refused: StartRefused = { kind: "StartRefused", ...about, reason: decision.reason };
        log.info({ event: "start-refused", ...about, reason: decision.reason }, "a start was refused");
        return events.tell(refused, () => this.#ack(delivery));
      }
      case "drop-duplicate": {
        const dropped: DuplicateDropped = { kind: "DuplicateDropped", ...about, keptRunId: decision.keptRunId };
        log.warn({ event: "duplicate-dropped", ...about }, "a second message of a revision that runs here was dropped");
        return events.tell(dropped, () => this.#ack(delivery));
      }
      default:
        return decision satisfies never;
    }
  }

  #accept(start: StartObserver, definition: ObserverDefinition, delivery: Delivery): void {
    const { runner, isTraced } = this.#parts;
    const traceContext = isTraced ? traceContextOf(delivery.properties.headers) : undefined;
    delivery.shed();
    runner.accept({ start, definition, delivery, traceContext });
  }

  async #refuseUnreadable(delivery: Delivery, reason: string): Promise<void> {
    const { errors, log, closing } = this.#parts;
    log.error(
      { event: "unreadable-message", queue: delivery.queue, reason },
      "a message could not be read; it goes to the error queue",
    );
    try {
      await errors.report({ reason: "unreadable", detail: reason }, delivery, closing);
    } catch (error) {
      log.debug({ event: "report-abandoned", error: String(error) }, "the process ends; the message stays with the broker");
      return;
    }
    this.#ack(delivery);
  }

  #ack(delivery: Delivery): void {
    if (this.#parts.holds(delivery.generation)) delivery.settle("ack");
  }
}
