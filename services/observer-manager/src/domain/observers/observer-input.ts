import { mayHaveRun, type RunEndReason, type RunStopReason, traitsOf } from "@unacked/contracts";
import type { Books } from "../books/books.ts";
import type { ObserverBook } from "../books/observer-book.ts";
import type { RunBook } from "../books/run-book.ts";
import { decide, type ObserverAction, type ObserverInput } from "./observer-machine.ts";
import { addressOf, admit, endRun, supersede } from "./run-fate.ts";

/**
 * How long a start waits when a service did not know its type. It is due earlier, once it has rested, where a service that takes work has the
 * type: a rolling deploy may bring one, and where some have it the others send it back (reconciler-store.ts).
 */
export const UNKNOWN_TYPE_PAUSE_MS = 60_000;
export const UNKNOWN_TYPE_REST_MS = 3_000;
/** `lastError` has this name where a service did not know the observer's type and let it go. */
export const UNKNOWN_TYPE = "UnknownType";

/**
 * Feeds an input to the observer's machine and carries out what it decides.
 * `run` is the run that the input is about, for the actions that concern a run.
 */
export function applyInput(books: Books, observer: ObserverBook, input: ObserverInput, run?: RunBook): void {
  const decision = decide(observer.status, input, observer.pending);
  if (decision.kind === "refuse") return;
  if (decision.kind === "go" && (observer.status !== decision.to || observer.pending !== decision.pending)) {
    observer.status = decision.to;
    observer.pending = decision.pending;
    books.changedObservers.add(observer);
  }
  for (const action of decision.actions) carryOut(books, observer, action, run);
  if (!mayHaveRun(observer.status)) letGoOfRun(books, observer);
  if (observer.status !== "Processing" && observer.silentSinceMs !== null) {
    observer.silentSinceMs = null;
    books.changedObservers.add(observer);
  }
  // What the observer waited for is there, or it does not wait. A later error of this name begins the wait anew (overview/stats-reads.ts).
  if (!["awaited", "none"].includes(traitsOf(observer.status).run) && observer.lastError?.name === UNKNOWN_TYPE) {
    observer.lastError = null;
    books.changedObservers.add(observer);
  }
  if (["none", "on-hold", "later"].includes(traitsOf(observer.status).run)) refuseRequest(books, observer, "not-wanted");
  if (observer.status !== "Retrying" && observer.nextAttemptInMs !== null) {
    observer.nextAttemptInMs = null;
    books.changedObservers.add(observer);
  }
}

/** An observer that is over by force keeps no run; one that still runs somewhere is stopped for itself. */
function letGoOfRun(books: Books, observer: ObserverBook): void {
  if (observer.currentRunId === null) return;
  const run = books.runs.get(observer.currentRunId);
  observer.currentRunId = null;
  books.changedObservers.add(observer);
  if (run) supersede(books, run, "not-wanted");
}

/** The run that waits for its admission is not to start. */
function refuseRequest(books: Books, { requestedRunId }: ObserverBook, reason: RunStopReason): void {
  const run = requestedRunId === null ? undefined : books.runs.get(requestedRunId);
  if (run) supersede(books, run, reason);
}

function carryOut(books: Books, observer: ObserverBook, action: ObserverAction, run?: RunBook): void {
  const { id: observerId } = observer;
  switch (action) {
    case "send-start":
    case "send-start-later":
      observer.revision += 1;
      observer.sentSpecVersion = observer.specVersion;
      observer.messagePool = null;
      refuseRequest(books, observer, "obsolete");
      books.changedObservers.add(observer);
      return books.want({
        kind: "start",
        observerId,
        revision: observer.revision,
        ...(action === "send-start" ? { delayMs: 0 } : { delayMs: UNKNOWN_TYPE_PAUSE_MS, reason: "unknown-type" }),
      });
    case "send-stop":
      return books.want({ kind: "stop", observerId, revision: observer.revision });
    case "stop-run":
      return run && supersede(books, run, "not-wanted");
    case "admit":
      return run && admit(books, observer, run);
    case "restart-run":
      return (
        run &&
        books.want({ kind: "restart-run", observerId, runId: run.id, serviceId: run.serviceId, generation: run.generation })
      );
    case "tell-run":
      return run && books.want({ kind: "update-run", ...addressOf(run) });
    case "forget-stop":
      return books.forget({ kind: "stop", observerId });
    case "forget":
      observer.messagePool = null;
      return books.forgetAllOfObserver(observerId);
    case "abandon":
      observer.messagePool ??= observer.pool;
      return books.forgetAllOfObserver(observerId);
    default:
      return action satisfies never;
  }
}

/** The run was its observer's own, and its message is with the broker again (or was never to be taken away). */
export function loseRun(books: Books, run: RunBook, reason: RunEndReason, atMs: number | null): void {
  const observer = books.observers.get(run.observerId);
  endRun(books, run, reason, atMs);
  if (!observer || observer.currentRunId !== run.id) return;
  observer.currentRunId = null;
  observer.lostRunBy = reason;
  books.changedObservers.add(observer);
  applyInput(books, observer, "run-lost", run);
}
