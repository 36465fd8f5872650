import type { ErrorText, RunEndReason, RunStopReason } from "@unacked/contracts";
import type { Books } from "../books/books.ts";
import type { ObserverBook } from "../books/observer-book.ts";
import type { RunBook } from "../books/run-book.ts";

/** The tokens of two admissions are so far apart: a keeper admits up to 999 successors by itself in between. */
export const FENCING_TOKEN_STEP = 1_000;

export const nextFencingToken = ({ fencingToken, clockMs }: Pick<ObserverBook, "fencingToken" | "clockMs">): number =>
  Math.max((fencingToken ?? 0) + FENCING_TOKEN_STEP, clockMs);

/** Lets its handler start, with a fencing token that is higher than any before, even one that these books lost in a restore. */
export function admit(books: Books, observer: ObserverBook, run: RunBook): void {
  if (run.state !== "Requested") {
    if (run.state === "Superseded") books.forget({ kind: "stop-run", runId: run.id });
    run.state = "Requested";
    observer.fencingToken = nextFencingToken(observer);
    run.fencingToken = observer.fencingToken;
    observer.requestedRunId = run.id;
    books.givenCheckpoints.set(run.id, observer.id);
    books.changedRuns.add(run);
    books.changedObservers.add(observer);
  }
  books.want({ kind: "admit", ...addressOf(run) });
}

/** What every order to one run says of it. */
export const addressOf = ({ id: runId, observerId, messageId, revision, serviceId, generation }: RunBook) => ({
  observerId,
  runId,
  messageId,
  revision,
  serviceId,
  generation,
});

/** The run waits for no admission any more: it has begun, or it is not to. */
export function letGoOfRequest(books: Books, run: RunBook): void {
  if (run.state !== "Requested") return;
  books.forget({ kind: "admit", runId: run.id });
  const observer = books.observers.get(run.observerId);
  if (observer?.requestedRunId !== run.id) return;
  observer.requestedRunId = null;
  books.changedObservers.add(observer);
}

/** The run is not (or no longer) the observer's own: it is told to stop, again until its end is reported. */
export function supersede(books: Books, run: RunBook, reason: RunStopReason): void {
  if (run.state === "Ended") return;
  letGoOfRequest(books, run);
  run.state = "Superseded";
  books.changedRuns.add(run);
  books.want({ kind: "stop-run", ...addressOf(run), reason });
}

/** It ended through no fault of its own. A run that began again in its service for such a reason says so itself. */
const isInterruption = (reason: RunEndReason): boolean =>
  reason === "lease-lost" || reason === "service-gone" || reason === "missing-from-inventory";

export function endRun(
  books: Books,
  run: RunBook,
  reason: RunEndReason,
  atMs: number | null,
  error: ErrorText | null = null,
): void {
  if (run.state === "Ended") return;
  letGoOfRequest(books, run);
  run.state = "Ended";
  run.endReason = reason;
  run.endedAtMs = atMs;
  run.error = error;
  books.changedRuns.add(run);
  books.happened.push({ kind: "run-ended", reason });
  if (run.interruption !== null || isInterruption(reason)) books.count(run, "interruptions");
  books.forgetAllOfRun(run.id);
}
