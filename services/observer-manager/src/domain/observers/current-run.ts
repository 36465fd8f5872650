import type { RunStopReason, ServiceEvent, ServiceId } from "@unacked/contracts";
import type { Books } from "../books/books.ts";
import type { ObserverBook } from "../books/observer-book.ts";
import type { RunBook } from "../books/run-book.ts";
import { applyInput } from "./observer-input.ts";
import { decide } from "./observer-machine.ts";
import { endRun, letGoOfRequest, supersede } from "./run-fate.ts";

/** Where an event comes from. */
export interface Source {
  serviceId: ServiceId;
  generation: number;
}

export type RunEvent = Extract<ServiceEvent, { runId: unknown }>;

/** Decides which run is current when one appears that the books did not know. */
export function meetRun(books: Books, observer: ObserverBook, run: RunBook): void {
  if (run.revision < observer.revision) return supersede(books, run, "obsolete");
  catchUpWithRevision(books, observer, run);
  const before = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  if (decide(observer.status, "run-current", observer.pending).kind === "ignore")
    return applyInput(books, observer, "run-current", run);
  // A count may begin again at 0 when somebody moves messages to another queue; a dead one's must not stand in the way.
  if (before && !books.isDead(before) && isTakenBackFor(run, before)) return supersede(books, run, "taken-back");
  noteFailover(books, observer, before, run);
  makeCurrent(books, observer, run);
  if (before === undefined || before.id === run.id) return;
  if (before.messageId === run.messageId) giveWay(books, before, run);
  else supersede(books, before, "duplicate");
}

/** Only books restored from an older backup are behind a service: what runs is the truth. */
export function catchUpWithRevision(books: Books, observer: ObserverBook, { revision }: RunBook): void {
  if (revision <= observer.revision) return;
  observer.revision = revision;
  books.changedObservers.add(observer);
}

/** The message of `before` is the other run's now. Where its connection is known to be dead, there is nobody left to tell it to stop. */
export function giveWay(books: Books, before: RunBook, run: RunBook): void {
  if (books.isDead(before)) endRun(books, before, "service-gone", null);
  else supersede(books, before, isTakenBackFor(before, run) ? "taken-back" : "superseded");
}

/**
 * Whether the broker has given the message of `earlier` to `later` since, whichever was heard first. Where the counts do not tell (equal,
 * as on classic queues, or not known), arrival decides and the holder is asked.
 */
export function isTakenBackFor(earlier: RunBook, later: RunBook): boolean {
  if (earlier.messageId !== later.messageId) return false;
  return earlier.deliveryCount !== null && later.deliveryCount !== null && earlier.deliveryCount < later.deliveryCount;
}

/** A failover is the same message at another run, or the next run of an observer that had lost its own. A restart is neither. */
function noteFailover(books: Books, observer: ObserverBook, before: RunBook | undefined, run: RunBook): void {
  const isTakenOver = before !== undefined && before.id !== run.id && before.messageId === run.messageId;
  const isAwaited = observer.status === "Redistributing" && observer.lostRunBy !== "restarted";
  if (!isTakenOver && !isAwaited) return;
  const wasLostBefore = isAwaited && observer.lostRunBy === undefined;
  books.happened.push({ kind: "failed-over", withoutRunMs: wasLostBefore ? observer.unchangedForMs : 0 });
}

function makeCurrent(books: Books, observer: ObserverBook, run: RunBook): void {
  letGoOfRequest(books, run);
  run.state = "Current";
  books.changedRuns.add(run);
  observer.currentRunId = run.id;
  observer.silentSinceMs = null;
  books.changedObservers.add(observer);
  applyInput(books, observer, "run-current", run);
}

export function metRun(books: Books, observer: ObserverBook, source: Source, event: RunEvent): RunBook {
  const run = record(books, observer, source, event);
  meetRun(books, observer, run);
  return run;
}

export function record(books: Books, observer: ObserverBook, source: Source, event: RunEvent): RunBook {
  observer.runNumber += 1;
  if (observer.runNumber > 1) observer.restarts = (observer.restarts ?? 0) + 1;
  books.changedObservers.add(observer);
  const run: RunBook = {
    id: event.runId,
    observerId: event.observerId,
    serviceId: source.serviceId,
    generation: source.generation,
    messageId: event.messageId,
    revision: event.revision,
    runNumber: observer.runNumber,
    fencingToken: null,
    deliveryCount: ("deliveryCount" in event ? event.deliveryCount : undefined) ?? null,
    specVersion: ("specVersion" in event ? event.specVersion : undefined) ?? null,
    startedAtMs: event.at,
    state: "Superseded",
    endReason: null,
    interruption: null,
    endedAtMs: null,
    error: null,
    story: [],
  };
  books.runs.set(run.id, run);
  books.changedRuns.add(run);
  books.happened.push({ kind: "run-started" });
  books.count(run, "starts");
  return run;
}

/**
 * Arrival order at the manager is not lease order: the run that answers RunHeld holds the message on a live channel, so it
 * is the one, unless that message was given out once more since (before RabbitMQ 4.3 the broker takes messages back without a
 * word when its nodes part for a moment). It is the only way back for a run that was superseded or ended.
 */
export function takeBack(books: Books, observer: ObserverBook, run: RunBook, source: Source): void {
  if (observer.currentRunId === run.id) return books.forget({ kind: "stop-run", runId: run.id });
  if (run.revision < observer.revision) return reviveToStop(books, run, source, "obsolete");
  if (decide(observer.status, "run-current", observer.pending).kind === "ignore")
    return reviveToStop(books, run, source, "not-wanted");
  const before = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  if (before && isTakenBackFor(run, before)) return reviveToStop(books, run, source, "taken-back");
  revive(books, run, source);
  books.forget({ kind: "stop-run", runId: run.id });
  makeCurrent(books, observer, run);
  if (before) supersede(books, before, before.messageId === run.messageId ? "superseded" : "duplicate");
}

/** The run was taken for ended or superseded, and is heard of again. It then belongs to this connection of its service. */
export function revive(books: Books, run: RunBook, source: Source): void {
  run.generation = source.generation;
  run.state = "Superseded";
  run.endReason = null;
  run.interruption = null;
  run.endedAtMs = null;
  books.changedRuns.add(run);
}

/** The run goes on, and is not to: it is told to stop. */
export function reviveToStop(books: Books, run: RunBook, source: Source, reason: RunStopReason): void {
  revive(books, run, source);
  supersede(books, run, reason);
}
