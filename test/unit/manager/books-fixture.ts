import {
  type EventBatch,
  type MessageId,
  newMessageId,
  newObserverId,
  newRunId,
  newServiceId,
  type ObserverId,
  type RunId,
  type ServiceEvent,
  type ServiceId,
} from "@unacked/contracts";
import { Books } from "../../../services/observer-manager/src/domain/books/books.ts";
import type { Command } from "../../../services/observer-manager/src/domain/books/command.ts";
import { InventoryParts } from "../../../services/observer-manager/src/domain/books/inventory-parts.ts";
import type { ObserverBook } from "../../../services/observer-manager/src/domain/books/observer-book.ts";
import { type ReceivedMessage } from "../../../services/observer-manager/src/domain/books/received-message.ts";
import { applyStateMessage } from "../../../services/observer-manager/src/domain/books/state-message.ts";

/** Books that stay in memory from message to message, and services that speak into them. */
export class Scene {
  readonly books = new Books(new InventoryParts());
  readonly #seqs = new Map<ServiceId, number>();

  observer(changes: Partial<ObserverBook> = {}): ObserverBook {
    const observer: ObserverBook = {
      id: newObserverId(),
      type: "ticker",
      status: "Created",
      pending: null,
      silentSinceMs: null,
      revision: 1,
      specVersion: 1,
      neededSpecVersion: 1,
      sentSpecVersion: 1,
      rejectedUpdate: null,
      pool: "default",
      messagePool: null,
      runNumber: 0,
      fencingToken: null,
      currentRunId: null,
      requestedRunId: null,
      clockMs: 0,
      attempts: 0,
      lastError: null,
      nextAttemptInMs: null,
      startsLater: false,
      unchangedForMs: 0,
      ...changes,
    };
    this.books.observers.set(observer.id, observer);
    return observer;
  }

  batch(serviceId: ServiceId, events: ServiceEvent[], changes: Partial<EventBatch> = {}): EventBatch {
    const seq = changes.seq ?? (this.#seqs.get(serviceId) ?? 0) + 1;
    this.#seqs.set(serviceId, Math.max(seq, this.#seqs.get(serviceId) ?? 0));
    return {
      kind: "EventBatch",
      serviceId,
      serviceName: `service-${serviceId.slice(-4)}`,
      pool: "default",
      workerCount: 10,
      generation: 1,
      events,
      ...changes,
      seq,
    };
  }

  say(serviceId: ServiceId, events: ServiceEvent[], changes: Partial<EventBatch> = {}): "applied" | "old" {
    return this.apply(this.batch(serviceId, events, changes));
  }

  apply(message: ReceivedMessage): "applied" | "old" {
    return applyStateMessage(this.books, message);
  }

  get wanted(): Command[] {
    return [...this.books.commands.values()].flatMap((change) => ("want" in change ? [change.want] : []));
  }

  stopOf(runId: RunId): Extract<Command, { kind: "stop-run" }> | undefined {
    return this.wanted.find((one) => one.kind === "stop-run" && one.runId === runId) as
      | Extract<Command, { kind: "stop-run" }>
      | undefined;
  }
}

export interface RunIdentity {
  observerId: ObserverId;
  runId: RunId;
  messageId: MessageId;
  revision: number;
  deliveryCount?: number;
}

export const runOf = (observer: ObserverBook, changes: Partial<RunIdentity> = {}): RunIdentity => ({
  observerId: observer.id,
  runId: newRunId(),
  messageId: newMessageId(),
  revision: observer.revision,
  ...changes,
});

export const started = (run: RunIdentity, attempt = 1): ServiceEvent => ({ kind: "RunStarted", ...run, at: 1_000, attempt });
export const held = (run: RunIdentity): ServiceEvent => ({ kind: "RunHeld", ...run, at: 1_000 });
export const completed = (run: RunIdentity): ServiceEvent => ({ kind: "RunCompleted", ...run, at: 1_000 });
export const failed = (run: RunIdentity): ServiceEvent => ({
  kind: "RunFailed",
  ...run,
  at: 1_000,
  attempts: 3,
  error: { name: "Error", message: "boom" },
});
export const retrying = (run: RunIdentity, attempt = 1): ServiceEvent => ({
  kind: "RunRetrying",
  ...run,
  at: 1_000,
  attempt,
  error: { name: "Error", message: "boom" },
  delayMs: 50,
});
export const stopped = (
  run: RunIdentity,
  reason: Extract<ServiceEvent, { kind: "RunStopped" }>["reason"] = "stopped",
): ServiceEvent => ({ kind: "RunStopped", ...run, at: 1_000, reason });
export const released = (run: RunIdentity, reason: "draining" | "lease-lost" = "lease-lost"): ServiceEvent => ({
  kind: "RunReleased",
  ...run,
  at: 1_000,
  reason,
});

export const newServices = (): [ServiceId, ServiceId] => [newServiceId(), newServiceId()];
