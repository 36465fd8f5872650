import {
  type BrokerLoss,
  type DeathCertificate,
  type EventBatch,
  isLivingService,
  type ServiceAlive,
  type ServiceBorn,
  type ServiceEvent,
} from "@unacked/contracts";
import type { Source } from "../observers/current-run.ts";
import { loseRun } from "../observers/observer-input.ts";
import { applyDuplicateDropped, applyRunEvent, applyStartNotRun } from "../observers/run-events.ts";
import type { Books } from "./books.ts";
import { applyInventory } from "./inventory.ts";
import { type ReceivedMessage, unappliedOf } from "./received-message.ts";
import { intakeOf, ORDER_OF, type ServiceBook, slotsOf } from "./service-book.ts";
import { askInventory, noteReload, noteStanding, orderAgain } from "./service-orders.ts";

/** What became of a message: an `old` one is a redelivery that was applied before. */
export type Applied = "applied" | "old";

/**
 * Applies one message of the state queue to the loaded books. Pure but for the books it is given.
 * A batch's `seq` is the guard against redelivery (≤ last_seq: skipped) and against loss (a gap asks for an inventory).
 */
export function applyStateMessage(books: Books, message: ReceivedMessage): Applied {
  if (message.kind === "DeathCertificate") return applyDeath(books, message);
  const service = books.services.get(message.serviceId);
  if (service && message.seq <= service.lastSeq) return "old";
  const current = service ?? insertService(books, message);
  const isGap = message.seq > current.lastSeq + 1;
  noteSign(books, current, message);
  if (isGap) askInventory(books, current);
  const source = sourceOf(message);
  for (const event of message.events) applyEvent(books, current, source, event);
  books.unapplied.push(...unappliedOf(message));
  return "applied";
}

/** One event of a batch, for callers that have to split a batch because the database refuses one of its events. */
export function applySingleEvent(books: Books, batch: EventBatch, event: ServiceEvent): void {
  const service = books.services.get(batch.serviceId) ?? insertService(books, batch);
  applyEvent(books, service, sourceOf(batch), event);
}

function applyEvent(books: Books, service: ServiceBook, source: Source, event: ServiceEvent): void {
  switch (event.kind) {
    case "ServiceBorn":
      return applyBirth(books, service, event);
    case "ServiceAlive":
      return applyAlive(books, service, event);
    case "ServiceDied":
      return endService(books, service, "Stopped", event.reason);
    case "Inventory":
      return applyInventory(books, service, source, event);
    case "StartRefused":
      return applyStartNotRun(books, event);
    case "MarkerSeen":
      return void books.markersSeen.add(event.markerId);
    case "ReloadEnded":
      return noteReload(books, service, event);
    case "DuplicateDropped":
      return applyDuplicateDropped(books, event);
    default:
      return applyRunEvent(books, source, event);
  }
}

/** An unknown service is never taken for a duplicate: perhaps it is the books that lost something. */
function insertService(books: Books, batch: EventBatch): ServiceBook {
  const service: ServiceBook = {
    id: batch.serviceId,
    name: batch.serviceName,
    pool: batch.pool,
    state: "Alive",
    drain: "none",
    generation: batch.generation,
    lastSeq: 0,
    workerCount: batch.workerCount,
    running: 0,
    types: [],
    version: "",
    host: "",
    pid: 0,
    heartbeatMs: 10_000,
    features: [],
    emits: null,
    brokenFiles: [],
    slots: [],
    slotDeaths: [],
    slotDeathsLately: 0,
    notConsuming: null,
    memoryBytes: 0,
    eventLoopLagMs: 0,
    endReason: null,
    brokerLoss: null,
    reloadId: null,
    reloadAnswer: null,
  };
  books.services.set(service.id, service);
  return service;
}

function noteSign(books: Books, service: ServiceBook, batch: EventBatch): void {
  books.changedServices.add(service);
  service.lastSeq = batch.seq;
  service.workerCount = batch.workerCount;
  const wasGivenUp = !isLivingService(service.state);
  const isNewConnection = batch.generation > service.generation;
  service.generation = Math.max(service.generation, batch.generation);
  if (wasGivenUp || isNewConnection) orderAgain(books, service);
  if (service.state === "Alive") return;
  // It was given up, and speaks: what it runs is asked for, whole.
  if (wasGivenUp) askInventory(books, service);
  service.state = "Alive";
  service.endReason = null;
}

function applyBirth(books: Books, service: ServiceBook, event: ServiceBorn): void {
  Object.assign(service, {
    pool: event.pool,
    workerCount: event.workerCount,
    types: event.types,
    version: event.version,
    host: event.host,
    pid: event.pid,
    heartbeatMs: event.heartbeatMs,
    features: event.features,
    brokenFiles: event.brokenFiles ?? [],
    brokerLoss: lossAtBirth(service.brokerLoss, event.brokerLoss),
  });
  books.changedServices.add(service);
  noteStanding(books, service, event);
  // A rebirth under the same name raises a suspicion only; the probe settles it.
  for (const other of books.namesakes) {
    if (other.name === service.name && other.id !== service.id)
      books.want({ kind: "probe", serviceId: other.id, generation: other.generation });
  }
}

/**
 * A birth is the end of what kept the service from one, and of what ended the session before that. That the broker cuts jobs alone is not over by it: it
 * does so again. Older services tell of a set-up that failed, too.
 */
function lossAtBirth(known: BrokerLoss | null, told: BrokerLoss | undefined): BrokerLoss | null {
  if (known?.kind === "consumer-timeout" && told?.kind !== "consumer-timeout") return known;
  return told === undefined || told.kind === "setup-failed" ? null : told;
}

function applyAlive(books: Books, service: ServiceBook, event: ServiceAlive): void {
  service.workerCount = event.workerCount;
  service.running = event.running;
  service.memoryBytes = Math.round(event.memoryBytes);
  service.eventLoopLagMs = event.eventLoopLagMs;
  Object.assign(service, slotsOf(event), intakeOf(event));
  noteEmits(books, service, event.emits);
  noteStanding(books, service, event);
  books.changedServices.add(service);
}

/** What is told first is where counting begins: books that met it late do not know when the rest was. */
function noteEmits(books: Books, service: ServiceBook, emits: ServiceAlive["emits"]): void {
  if (emits === undefined) return;
  if (service.emits !== null)
    for (const [type, count] of Object.entries(emits)) {
      const more = count - (service.emits[type] ?? 0);
      if (more > 0) books.figures.add(type, service.id, "emits", more);
    }
  service.emits = emits;
}

/** A certificate speaks of one generation: a service that has come back since is not touched. */
function applyDeath(books: Books, message: DeathCertificate): Applied {
  const service = books.services.get(message.serviceId);
  if (!service) return "old";
  books.forget({ kind: "probe", ...sourceOf(message) });
  books.forget({ kind: "report-inventory", ...sourceOf(message) });
  for (const kind of [...Object.values(ORDER_OF), "step-aside", "reload"] as const)
    books.forget({ kind, ...sourceOf(message) });
  if (service.generation !== message.generation || !isLivingService(service.state)) return "old";
  endService(books, service, "Gone", "its control queue is gone: the connection was lost");
  return "applied";
}

/** Just these two: whatever else the message holds must not slip into what is made from it. */
const sourceOf = ({ serviceId, generation }: ReceivedMessage): Source => ({ serviceId, generation });

function endService(books: Books, service: ServiceBook, state: "Stopped" | "Gone", reason: string): void {
  service.state = state;
  service.endReason = reason;
  service.running = 0;
  service.slots = [];
  books.happened.push({ kind: "service-ended", how: state });
  books.changedServices.add(service);
  for (const run of books.livingRunsOf(service.id))
    loseRun(books, run, state === "Gone" ? "service-gone" : "service-stopped", null);
}
