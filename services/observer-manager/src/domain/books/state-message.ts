import {
  type DeathCertificate,
  type EventBatch,
  type Inventory,
  isLivingService,
  type ReloadEnded,
  type RunRequested,
  type ServiceAlive,
  type ServiceBorn,
  type ServiceEvent,
} from "@unacked/contracts";
import { noteSaver } from "../observers/checkpoints.ts";
import { isTakenBackFor, reviveToStop, type Source } from "../observers/current-run.ts";
import { loseRun } from "../observers/observer-input.ts";
import { applyRunEvent, applyStartNotRun } from "../observers/run-events.ts";
import { endRun } from "../observers/run-fate.ts";
import { catchUp } from "../observers/run-update.ts";
import {
  type Books,
  type DrainState,
  intakeOf,
  type ObserverBook,
  ORDER_OF,
  type RunBook,
  type ServiceBook,
  slotsOf,
} from "./books.ts";
import { type ReceivedMessage, unappliedOf } from "./received-message.ts";

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
      return void books.happened.push({ kind: "duplicate-dropped" });
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
  // What was sent to the connection before is lost with it.
  if (wasGivenUp || isNewConnection) orderAgain(books, service);
  if (service.state === "Alive") return;
  // It was given up, and speaks: what it runs is asked for, whole.
  if (wasGivenUp) askInventory(books, service);
  service.state = "Alive";
  service.endReason = null;
}

const isWaited = (drain: DrainState): drain is keyof typeof ORDER_OF => drain in ORDER_OF;

function orderAgain(books: Books, { id: serviceId, generation, drain, reloadId, reloadAnswer }: ServiceBook): void {
  if (isWaited(drain)) books.want({ kind: ORDER_OF[drain], serviceId, generation });
  if (reloadId !== null && reloadAnswer === null) books.want({ kind: "reload", serviceId, generation, reloadId });
}

/** Of one that was asked for before the last, and is over now, nobody waits to hear: the last one begins after it. */
function noteReload(books: Books, service: ServiceBook, { kind: _kind, reloadId, ...answer }: ReloadEnded): void {
  if (reloadId !== service.reloadId) return;
  service.reloadAnswer = answer;
  books.changedServices.add(service);
  books.forget({ kind: "reload", serviceId: service.id, generation: service.generation });
}

/** What it says of its intake, by our order or another's: an order is answered. While it is to take work again, it has not heard of that yet. */
function noteStanding(books: Books, service: ServiceBook, { draining, cordoned }: Standing): void {
  const told = draining ? "begun" : cordoned ? "cordoned" : "none";
  const { id: serviceId, generation, drain } = service;
  // Older ones never take a drain back.
  const isNews = service.features.includes("balance") || !(told === "none" && drain === "begun");
  if (told === drain || !isNews || !ANSWERED_BY[told].includes(drain)) return;
  service.drain = told;
  if (isWaited(drain)) books.forget({ kind: ORDER_OF[drain], serviceId, generation });
}

interface Standing {
  draining: boolean;
  cordoned?: boolean | undefined;
}

/** By what a service says: where the books stood, for it to be news. */
const ANSWERED_BY: Record<"none" | "cordoned" | "begun", readonly DrainState[]> = {
  // By our order or not: what it says later is newer than what it said before.
  none: ["lift-asked", "cordoned", "begun"],
  cordoned: ["none", "cordon-asked"],
  begun: ["none", "asked", "cordon-asked", "cordoned"],
};

function askInventory(books: Books, service: ServiceBook): void {
  books.want({ kind: "report-inventory", serviceId: service.id, generation: service.generation });
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
    brokerLoss: event.brokerLoss ?? service.brokerLoss,
  });
  books.changedServices.add(service);
  noteStanding(books, service, event);
  // A rebirth under the same name raises a suspicion only; the probe settles it.
  for (const other of books.namesakes) {
    if (other.name === service.name && other.id !== service.id)
      books.want({ kind: "probe", serviceId: other.id, generation: other.generation });
  }
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

/** One that asks counts as if it asked now, unless somebody else has its observer. */
function noteRequest(books: Books, source: Source, event: RunRequested): void {
  const run = books.runs.get(event.runId);
  const observer = books.observers.get(event.observerId);
  const isOthers =
    run?.state === "Superseded" && observer !== undefined && (observer.currentRunId ?? observer.requestedRunId);
  if (!isOthers) applyRunEvent(books, source, event);
}

/** Restored books are behind a run that has been told of a change since: what it runs by is the truth, and the next version is higher. */
function noteListedVersion(books: Books, observer: ObserverBook, run: RunBook, specVersion: number | undefined): void {
  if (run.state !== "Current" || specVersion === undefined || specVersion === run.specVersion) return;
  run.specVersion = specVersion;
  books.changedRuns.add(run);
  books.changedObservers.add(observer);
  catchUp(books, observer, run);
}

/**
 * What the service says it runs, held against the books, both ways. Parts come in order, none missing, so a run that is in
 * none of them is known to be missing at the last one.
 */
function applyInventory(books: Books, service: ServiceBook, source: Source, inventory: Inventory): void {
  if (inventory.draining) noteStanding(books, service, { draining: true });
  for (const listed of inventory.runs) {
    const run = books.runs.get(listed.runId);
    const observer = books.observers.get(listed.observerId);
    if (listed.requested === true) {
      noteRequest(books, source, { kind: "RunRequested", ...listed, at: inventory.at });
      continue;
    }
    noteSaver(books, listed);
    if (run && observer) noteListedVersion(books, observer, run, listed.specVersion);
    const isNews = !run || (run.state !== "Current" && observer?.currentRunId === null);
    if (!run || run.state === "Requested") applyRunEvent(books, source, { kind: "RunStarted", ...listed, at: inventory.at });
    else if (isNews) applyRunEvent(books, source, { kind: "RunHeld", ...listed, at: inventory.at });
    else if (run.state === "Ended") {
      const current = observer?.currentRunId ? books.runs.get(observer.currentRunId) : undefined;
      reviveToStop(books, run, source, current && isTakenBackFor(run, current) ? "taken-back" : "superseded");
    }
  }
  const listed = books.inventories.collect(inventory);
  if (inventory.part < inventory.parts) return;
  if (!listed) return askInventory(books, service);
  service.gaveInventory = true;
  if (inventory.proof !== undefined) {
    service.answered = inventory.proof;
    const { proof, givenBack = [] } = inventory;
    books.givenBack.push(...givenBack.map((one) => ({ markerId: proof.markerId, ...one })));
  }
  books.changedServices.add(service);
  for (const run of books.livingRunsOf(service.id)) {
    if (listed.has(run.id)) continue;
    if (run.state === "Current") loseRun(books, run, "missing-from-inventory", null);
    else endRun(books, run, "missing-from-inventory", null);
  }
  books.forget({ kind: "report-inventory", serviceId: service.id, generation: source.generation });
}
