import type { Delivery } from "@unacked/broker";
import {
  type CancelTasks,
  ControlMessage,
  decodeList,
  type Inventory,
  type InventoryProof,
  type LeftOut,
  type ReadLogs,
  type ReportInventory,
  type ReportTasks,
  type ServiceBorn,
} from "@unacked/contracts";
import type { Log } from "../../log.ts";
import type { ErrorReporter } from "../outbox/error-reporter.ts";
import { takeInventory } from "./inventory.ts";
import type { Orders } from "./orders.ts";
import { RunOrders, type RunOrdersParts } from "./run-orders.ts";

export interface ControlParts extends RunOrdersParts {
  /** The event that introduces this service. */
  readonly introduce: () => ServiceBorn;
  /** Orders to the service as a whole. */
  readonly orders: Pick<Orders, "drain" | "cordon" | "uncordon" | "give" | "stepAside" | "reload">;
  readonly logs: { answer(request: ReadLogs): void };
  readonly tasks: { cancel(order: CancelTasks): void; report(order: ReportTasks, generation: number): Promise<void> };
  readonly errors: Pick<ErrorReporter, "report">;
  /** The observers whose messages it has given back: unrun ones, and those of runs that have ended. */
  readonly givenBack: () => Required<Inventory>["givenBack"];
  /** Resolves when everything that the broker has sent for work until now has come in. Rejects when the session is lost. */
  readonly flushed: () => Promise<void>;
  readonly log: Log;
  /** Aborts when the process ends. */
  readonly closing: AbortSignal;
}

/**
 * Receives what the manager tells this service, or all. Guarantees: what can be read is passed to its receiver, and the rest is put to the
 * errors. A crash forgets the order; the manager sends it again until it is answered. Only a question about logs is asked once, and its
 * answer may be dropped.
 */
export class ControlIntake {
  readonly #parts: ControlParts;
  readonly #runs: RunOrders;

  constructor(parts: ControlParts) {
    this.#parts = parts;
    this.#runs = new RunOrders(parts);
  }

  take(delivery: Delivery): void {
    const decoded = decodeList(ControlMessage, "targets", delivery.body);
    if (!decoded.ok) return void this.#refuseUnreadable(delivery, decoded.reason);
    if (decoded.leftOut.length > 0) this.#refuseSome(decoded.value, decoded.leftOut, delivery);
    // Asked first, so that a process which slept through its lease fences before it reports what it runs.
    this.#parts.holds(delivery.generation);
    const message = decoded.value;
    switch (message.kind) {
      case "StopObservers":
        return this.#runs.stopObservers(message, delivery);
      case "StopRuns":
        return this.#runs.stopRuns(message, delivery);
      case "RestartRuns":
        return this.#runs.restartRuns(message, delivery);
      case "Admit":
        return this.#runs.admit(message, delivery);
      case "TellCheckpoints":
        return this.#runs.tellCheckpoints(message);
      case "UpdateRuns":
        return this.#runs.updateRuns(message, delivery);
      case "ReportInventory":
        return this.#reportInventory(message, delivery.generation);
      case "Probe":
        return;
      case "Drain":
        return this.#parts.orders.drain(message.sentAtMs);
      case "Cordon":
        return this.#parts.orders.cordon(message.sentAtMs);
      case "Uncordon":
        return this.#parts.orders.uncordon(message.sentAtMs);
      case "ShedRuns":
        return this.#runs.shed(message, delivery);
      case "StepAside":
        return this.#parts.orders.stepAside();
      case "Reload":
        return this.#parts.orders.reload(message.reloadId);
      case "ReadLogs":
        return this.#parts.logs.answer(message);
      case "CancelTasks":
        return this.#parts.tasks.cancel(message);
      case "ReportTasks":
        return void this.#parts.tasks.report(message, delivery.generation);
      default:
        return message satisfies never;
    }
  }

  /** Reports what the service has now. */
  #reportInventory({ proof }: ReportInventory, generation: number): void {
    if (proof === undefined) return this.#tellInventory();
    void this.#proveInventory(proof, generation);
  }

  /**
   * For a proof of absence it has to be complete: behind what is on its way here, and under a held lease, as a fenced
   * service's messages are neither its runs nor anybody else's yet. A question without an answer is asked again.
   */
  async #proveInventory(proof: InventoryProof, generation: number): Promise<void> {
    const { flushed, holds, log } = this.#parts;
    try {
      await flushed();
      if (holds(generation)) this.#tellInventory(proof);
    } catch (error) {
      log.debug({ event: "inventory-abandoned", error: String(error) }, "it could not be proven whole; it is asked again");
    }
  }

  #tellInventory(proof?: InventoryProof): void {
    const { runner, events, givenBack, introduce } = this.#parts;
    const runs = runner.runs.all();
    for (const run of runs) run.announced = true;
    // A manager that has to ask may not know this service either.
    const introduction = introduce();
    events.tell(introduction);
    const about = { draining: introduction.draining, proof, givenBack: givenBack() };
    for (const part of takeInventory(runs, Date.now(), about)) events.tell(part);
  }

  /** If some of a message's orders are not understood, the others are still followed. */
  #refuseSome(message: ControlMessage, leftOut: readonly LeftOut[], { queue }: Delivery): void {
    const body = Buffer.from(JSON.stringify({ ...message, targets: leftOut.map(({ item }) => item) }));
    void this.#refuseUnreadable({ queue, body }, leftOut.map(({ reason }) => reason).join("; "));
  }

  async #refuseUnreadable(delivery: Pick<Delivery, "queue" | "body">, reason: string): Promise<void> {
    const { errors, log, closing } = this.#parts;
    log.error(
      { event: "unreadable-message", queue: delivery.queue, reason },
      "a control message could not be read; it goes to the error queue",
    );
    try {
      await errors.report({ reason: "unreadable", detail: reason }, delivery, closing);
    } catch (error) {
      log.debug({ event: "report-abandoned", error: String(error) }, "the process ends");
    }
  }
}
