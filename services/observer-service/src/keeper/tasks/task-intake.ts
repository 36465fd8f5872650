import type { Delivery } from "@unacked/broker";
import { decodeBody, StartTask, TaskBundle, type TaskEvent, TaskMarker } from "@unacked/contracts";
import { type ErrorWay, giveToErrors } from "../outbox/give-to-errors.ts";
import { ownMessage, partsOf } from "./task-message.ts";
import type { TaskRunner } from "./task-runner.ts";

export interface TaskIntakeParts extends ErrorWay {
  readonly runner: Pick<TaskRunner, "accept" | "acceptBundle" | "acceptLane" | "giveBack" | "letGo">;
  readonly events: { tell(event: TaskEvent, onConfirmed?: () => void): void };
}

/**
 * Receives the deliveries of the task queue. Guarantees: each is run, or put to the errors before it is acked, or it stays unacked
 * and the broker gives it to another. A crash in the middle leaves it unacked.
 */
export class TaskIntake {
  readonly #parts: TaskIntakeParts;
  #draining = false;

  constructor(parts: TaskIntakeParts) {
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
    const { holds, runner } = this.#parts;
    if (!holds(delivery.generation)) return; // it is fenced: its session is about to end, and with it the message goes back
    if (this.#draining) return this.#letGo(delivery);
    if (delivery.properties.type === "TaskMarker") return this.#takeMarker(delivery);
    if (delivery.properties.type === "TaskBundle") return this.#takeBundle(delivery);
    const decoded = decodeBody(StartTask, delivery.body);
    if (!decoded.ok) return void giveToErrors(delivery, decoded.reason, this.#parts);
    runner.accept(decoded.value, ownMessage(delivery));
  }

  #letGo(delivery: Delivery): void {
    const bundle = decodeBody(TaskBundle, delivery.body);
    const single = decodeBody(StartTask, delivery.body);
    if (bundle.ok) this.#parts.runner.letGo(bundle.value.tasks);
    else if (single.ok) this.#parts.runner.letGo([single.value]);
    delivery.settle("requeue");
  }

  #takeBundle(delivery: Delivery): void {
    const { runner } = this.#parts;
    const decoded = decodeBody(TaskBundle, delivery.body);
    if (!decoded.ok) return void giveToErrors(delivery, decoded.reason, this.#parts);
    const { tasks, inTurn = false } = decoded.value;
    const isOld = delivery.redelivered || delivery.deliveryCount > 0;
    const part = partsOf(delivery, tasks.length);
    if (isOld) return runner.giveBack(tasks, part);
    if (inTurn) return runner.acceptLane(tasks, part);
    runner.acceptBundle(tasks, part);
  }

  #takeMarker(delivery: Delivery): void {
    const decoded = decodeBody(TaskMarker, delivery.body);
    if (!decoded.ok) return void giveToErrors(delivery, decoded.reason, this.#parts);
    const { markerId } = decoded.value;
    this.#parts.events.tell({ kind: "TaskMarkerSeen", markerId }, () => this.#ack(delivery));
  }

  #ack(delivery: Delivery): void {
    if (this.#parts.holds(delivery.generation)) delivery.settle("ack");
  }
}
