import type { ErrorText, ObserverStatus, RunEndReason, RunStopReason, ServiceEvent, ServiceId } from "@unacked/contracts";
import type { Books, ObserverBook, RunBook } from "./books.ts";
import { decide, type ObserverAction, type ObserverInput } from "./observer-machine.ts";

/** How long a start waits when a service did not know its type: a rolling deploy may bring one that does. */
export const UNKNOWN_TYPE_PAUSE_MS = 3_000;

/** Where an event comes from. */
export interface Source {
  serviceId: ServiceId;
  generation: number;
}

type RunEvent = Extract<ServiceEvent, { runId: unknown }>;
type StartNotRun = Extract<ServiceEvent, { kind: "StartRefused" }>;

/**
 * Feeds an input to the observer's machine and carries out what it decides.
 * `run` is the run that the input is about, for the actions that concern a run.
 */
export function feedObserver(books: Books, observer: ObserverBook, input: ObserverInput, run?: RunBook): void {
  const decision = decide(observer.status, input);
  if (decision.kind === "refuse") return;
  if (decision.kind === "go" && observer.status !== decision.to) {
    observer.status = decision.to;
    books.changedObservers.add(observer);
  }
  for (const action of decision.actions) carryOut(books, observer, action, run);
  if (!HAVE_A_RUN.has(observer.status)) letGoOfRun(books, observer);
  if (observer.status !== "Retrying" && observer.nextAttemptInMs !== null) {
    observer.nextAttemptInMs = null;
    books.changedObservers.add(observer);
  }
}

const HAVE_A_RUN: ReadonlySet<ObserverStatus> = new Set(["Processing", "Retrying", "OnDeleting"]);

/** An observer that is over by force keeps no run; one that still runs somewhere is stopped for itself. */
function letGoOfRun(books: Books, observer: ObserverBook): void {
  if (observer.currentRunId === null) return;
  const run = books.runs.get(observer.currentRunId);
  observer.currentRunId = null;
  books.changedObservers.add(observer);
  if (run) supersede(books, run, "not-wanted");
}

function carryOut(books: Books, observer: ObserverBook, action: ObserverAction, run?: RunBook): void {
  const { id: observerId } = observer;
  switch (action) {
    case "send-start":
    case "send-start-later":
      observer.revision += 1;
      books.changedObservers.add(observer);
      return books.want({
        kind: "start",
        observerId,
        revision: observer.revision,
        delayMs: action === "send-start" ? 0 : UNKNOWN_TYPE_PAUSE_MS,
      });
    case "send-stop":
      return books.want({ kind: "stop", observerId, revision: observer.revision });
    case "stop-run":
      return run && supersede(books, run, "not-wanted");
    case "restart-run":
      return (
        run &&
        books.want({ kind: "restart-run", observerId, runId: run.id, serviceId: run.serviceId, generation: run.generation })
      );
    case "forget":
      books.forget({ kind: "start", observerId });
      return books.forget({ kind: "stop", observerId });
    default:
      return action satisfies never;
  }
}

/** The run is not (or no longer) the observer's own: it is told to stop, again until its end is reported. */
export function supersede(books: Books, run: RunBook, reason: RunStopReason): void {
  if (run.state === "Ended") return;
  run.state = "Superseded";
  books.changedRuns.add(run);
  books.want({
    kind: "stop-run",
    observerId: run.observerId,
    runId: run.id,
    messageId: run.messageId,
    revision: run.revision,
    serviceId: run.serviceId,
    generation: run.generation,
    reason,
  });
}

export function endRun(
  books: Books,
  run: RunBook,
  reason: RunEndReason,
  atMs: number | null,
  error: ErrorText | null = null,
): void {
  if (run.state === "Ended") return;
  run.state = "Ended";
  run.endReason = reason;
  run.endedAtMs = atMs;
  run.error = error;
  books.changedRuns.add(run);
  books.forget({ kind: "stop-run", runId: run.id });
  books.forget({ kind: "restart-run", runId: run.id });
}

/** The run was its observer's own, and its message is with the broker again (or was never to be taken away). */
export function loseRun(books: Books, run: RunBook, reason: RunEndReason, atMs: number | null): void {
  const observer = books.observers.get(run.observerId);
  endRun(books, run, reason, atMs);
  if (!observer || observer.currentRunId !== run.id) return;
  observer.currentRunId = null;
  books.changedObservers.add(observer);
  feedObserver(books, observer, "run-lost", run);
}

/**
 * One event about a run. The guard of every write is here: an input reaches the observer's machine only from its
 * current run, or, when no run is current, from a run of the current revision. A run that the books do not know yet is
 * recorded first, so an end that arrives alone (coalesced) implies its start.
 */
export function applyRunEvent(books: Books, source: Source, event: RunEvent): void {
  const observer = books.observers.get(event.observerId);
  if (!observer) return stopUnknown(books, source, event);
  const run = books.runs.get(event.runId);
  switch (event.kind) {
    case "RunStarted":
      if (!run) meetRun(books, observer, record(books, observer, source, event));
      return noteAttempt(books, observer, event.runId, event.attempt);
    case "RunRetrying":
      if (!run) meetRun(books, observer, record(books, observer, source, event));
      return noteRetry(books, observer, event);
    case "RunHeld":
      return takeBack(books, observer, run ?? record(books, observer, source, event), source);
    case "RunStopped":
      return applyEnd(
        books,
        observer,
        run ?? metRun(books, observer, source, event),
        stoppedInput(event.reason),
        event.reason,
        event.at,
      );
    case "RunFailed":
      return applyEnd(
        books,
        observer,
        run ?? metRun(books, observer, source, event),
        "run-failed",
        "failed",
        event.at,
        event,
      );
    case "RunCompleted":
      return applyEnd(
        books,
        observer,
        run ?? metRun(books, observer, source, event),
        "run-completed",
        "completed",
        event.at,
      );
    case "RunReleased":
      return applyEnd(books, observer, run ?? metRun(books, observer, source, event), "run-lost", event.reason, event.at);
    default:
      return event satisfies never;
  }
}

/** Who is current when a run appears that the books did not know. */
function meetRun(books: Books, observer: ObserverBook, run: RunBook): void {
  if (run.revision < observer.revision) return supersede(books, run, "obsolete");
  if (run.revision > observer.revision) {
    // Only books restored from an older backup are behind a service: what runs is the truth.
    observer.revision = run.revision;
    books.changedObservers.add(observer);
  }
  const before = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  if (decide(observer.status, "run-current").kind === "ignore") return feedObserver(books, observer, "run-current", run);
  makeCurrent(books, observer, run);
  if (before && before.id !== run.id)
    supersede(books, before, before.messageId === run.messageId ? "superseded" : "duplicate");
}

function makeCurrent(books: Books, observer: ObserverBook, run: RunBook): void {
  run.state = "Current";
  books.changedRuns.add(run);
  books.forget({ kind: "stop-run", runId: run.id });
  observer.currentRunId = run.id;
  books.changedObservers.add(observer);
  feedObserver(books, observer, "run-current", run);
}

function metRun(books: Books, observer: ObserverBook, source: Source, event: RunEvent): RunBook {
  const run = record(books, observer, source, event);
  meetRun(books, observer, run);
  return run;
}

function record(books: Books, observer: ObserverBook, source: Source, event: RunEvent): RunBook {
  observer.epoch += 1;
  books.changedObservers.add(observer);
  const run: RunBook = {
    id: event.runId,
    observerId: event.observerId,
    serviceId: source.serviceId,
    generation: source.generation,
    messageId: event.messageId,
    revision: event.revision,
    epoch: observer.epoch,
    startedAtMs: event.at,
    state: "Superseded",
    endReason: null,
    endedAtMs: null,
    error: null,
  };
  books.runs.set(run.id, run);
  books.changedRuns.add(run);
  return run;
}

function noteAttempt(books: Books, observer: ObserverBook, runId: RunBook["id"], attempt: number): void {
  if (observer.currentRunId !== runId) return;
  observer.attempts = attempt;
  books.changedObservers.add(observer);
  const run = books.runs.get(runId);
  if (observer.status === "Retrying") feedObserver(books, observer, "run-current", run);
}

function noteRetry(books: Books, observer: ObserverBook, event: Extract<RunEvent, { kind: "RunRetrying" }>): void {
  if (observer.currentRunId !== event.runId) return;
  observer.attempts = event.attempt;
  observer.lastError = event.error;
  books.changedObservers.add(observer);
  feedObserver(books, observer, "run-retrying");
  if (observer.status === "Retrying") observer.nextAttemptInMs = event.delayMs;
}

/**
 * Arrival order at the manager is not lease order: the run that answers RunHeld holds the message on a live channel, so it
 * is the one. It is the only way back for a run that was superseded or ended.
 */
function takeBack(books: Books, observer: ObserverBook, run: RunBook, source: Source): void {
  if (observer.currentRunId === run.id) return books.forget({ kind: "stop-run", runId: run.id });
  if (run.revision < observer.revision) return reviveToStop(books, run, source, "obsolete");
  if (decide(observer.status, "run-current").kind === "ignore") return reviveToStop(books, run, source, "not-wanted");
  const before = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  revive(books, run, source);
  makeCurrent(books, observer, run);
  if (before) supersede(books, before, before.messageId === run.messageId ? "superseded" : "duplicate");
}

function revive(books: Books, run: RunBook, source: Source): void {
  run.generation = source.generation;
  run.state = "Superseded";
  run.endReason = null;
  run.endedAtMs = null;
  books.changedRuns.add(run);
}

function reviveToStop(books: Books, run: RunBook, source: Source, reason: RunStopReason): void {
  revive(books, run, source);
  supersede(books, run, reason);
}

function stoppedInput(reason: Extract<RunEvent, { kind: "RunStopped" }>["reason"]): ObserverInput {
  // Neither `restarted` nor `superseded` acks the message: the observer goes on with another run.
  return reason === "restarted" || reason === "superseded" ? "run-lost" : "run-stopped";
}

function applyEnd(
  books: Books,
  observer: ObserverBook,
  run: RunBook,
  input: ObserverInput,
  reason: RunEndReason,
  atMs: number,
  failure?: Extract<RunEvent, { kind: "RunFailed" }>,
): void {
  const isCurrent = observer.currentRunId === run.id;
  const speaksForObserver = isCurrent || (observer.currentRunId === null && run.revision === observer.revision);
  const isAnswerToOther = ["duplicate", "obsolete", "not-wanted", "unknown"].includes(reason);
  endRun(books, run, reason, atMs, failure?.error ?? null);
  if (!speaksForObserver || (isAnswerToOther && !isCurrent)) return;
  if (failure) {
    observer.attempts = failure.attempts;
    observer.lastError = failure.error;
    books.changedObservers.add(observer);
  }
  if (isCurrent) {
    observer.currentRunId = null;
    books.changedObservers.add(observer);
  }
  feedObserver(books, observer, input, run);
}

/** A message that was acked without being run. */
export function applyStartNotRun(books: Books, event: StartNotRun): void {
  const observer = books.observers.get(event.observerId);
  if (!observer || observer.revision !== event.revision || observer.currentRunId !== null) return;
  feedObserver(books, observer, event.reason === "stopped" ? "start-refused" : "type-unknown");
}

/**
 * A run of an observer that the books do not have: nobody could ever stop it but us, now. Its message comes back among the
 * errors, and if the books have lost it rather than removed it, it is recorded from there (readoption.ts).
 */
function stopUnknown(books: Books, source: Source, event: RunEvent): void {
  const { observerId, runId, messageId, revision } = event;
  if (event.kind === "RunStarted" || event.kind === "RunRetrying" || event.kind === "RunHeld")
    return books.want({ kind: "stop-run", observerId, runId, messageId, revision, ...source, reason: "unknown" });
  books.forget({ kind: "stop-run", runId });
}
