import type { RunEndReason, ServiceEvent } from "@unacked/contracts";
import type { Books, ObserverBook, RunBook } from "../books/books.ts";
import { meetRun, metRun, type RunEvent, record, type Source, takeBack } from "./current-run.ts";
import { applyInput } from "./observer-input.ts";
import type { ObserverInput } from "./observer-machine.ts";
import { endRun, supersede } from "./run-fate.ts";

type StartNotRun = Extract<ServiceEvent, { kind: "StartRefused" }>;

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
      if (run) run.deliveryCount ??= event.deliveryCount ?? null;
      return takeBack(books, observer, run ?? record(books, observer, source, event), source);
    case "RunStopped": {
      const stopped = run ?? metRun(books, observer, source, event);
      if (stopped.state !== "Ended") stopped.interruption = event.interruption ?? null;
      return applyEnd(books, observer, stopped, stoppedInput(event.reason), event.reason, event.at);
    }
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

function noteAttempt(books: Books, observer: ObserverBook, runId: RunBook["id"], attempt: number): void {
  if (observer.currentRunId !== runId) return;
  observer.attempts = attempt;
  books.changedObservers.add(observer);
  const run = books.runs.get(runId);
  if (observer.status === "Retrying") applyInput(books, observer, "run-current", run);
}

function noteRetry(books: Books, observer: ObserverBook, event: Extract<RunEvent, { kind: "RunRetrying" }>): void {
  if (observer.currentRunId !== event.runId) return;
  observer.attempts = event.attempt;
  observer.lastError = event.error;
  books.changedObservers.add(observer);
  applyInput(books, observer, "run-retrying");
  if (observer.status === "Retrying") observer.nextAttemptInMs = event.delayMs;
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
    observer.lostRunBy = reason;
    books.changedObservers.add(observer);
  }
  applyInput(books, observer, input, run);
}

/** A message that was acked without being run. */
export function applyStartNotRun(books: Books, event: StartNotRun): void {
  const observer = books.observers.get(event.observerId);
  if (!observer || observer.revision !== event.revision) return;
  if (observer.currentRunId !== null && !hasLostIts(books, observer, event.messageId)) return;
  if (event.reason === "unknown-type" && observer.pending === null) {
    const message = "the service that had a free worker does not know the type; it is sent again";
    observer.lastError = { name: "UnknownType", message };
    books.changedObservers.add(observer);
  }
  applyInput(books, observer, event.reason === "stopped" ? "start-refused" : "type-unknown");
}

/**
 * A service that refuses a message had it from the broker: the run that the books hold for current has it no more, though nobody may
 * know yet what became of its service. Of another message of the revision nothing follows.
 */
function hasLostIts(books: Books, observer: ObserverBook, messageId: RunBook["messageId"]): boolean {
  const run = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  if (run?.messageId !== messageId) return false;
  if (books.isDead(run)) endRun(books, run, "service-gone", null);
  else supersede(books, run, "taken-back");
  observer.currentRunId = null;
  observer.lostRunBy = "lease-lost";
  books.changedObservers.add(observer);
  return true;
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
