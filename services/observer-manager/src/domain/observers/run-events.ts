import { type DuplicateDropped, type RunEndReason, reasonOfRelease, type ServiceEvent } from "@unacked/contracts";
import type { Books } from "../books/books.ts";
import type { ObserverBook } from "../books/observer-book.ts";
import type { RunBook } from "../books/run-book.ts";
import { answerRequest, noteFencingToken } from "./admission.ts";
import { noteCheckpoint, noteSaver } from "./checkpoints.ts";
import { meetRun, metRun, type RunEvent, record, type Source, takeBack } from "./current-run.ts";
import { applyInput, UNKNOWN_TYPE } from "./observer-input.ts";
import type { ObserverInput } from "./observer-machine.ts";
import { endRun, supersede } from "./run-fate.ts";
import { tellStep } from "./run-story.ts";
import { catchUp, noteUpdate } from "./run-update.ts";

type RunRetrying = Extract<RunEvent, { kind: "RunRetrying" }>;
type RunEnd = Extract<RunEvent, { kind: "RunStopped" | "RunFailed" | "RunCompleted" | "RunReleased" }>;
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
    case "RunRequested": {
      if (run) run.deliveryCount ??= event.deliveryCount ?? null;
      return answerRequest(books, observer, run ?? record(books, observer, source, event), source);
    }
    case "CheckpointSaved":
      return noteCheckpoint(books, event);
    case "RunStarted": {
      const started = run ?? record(books, observer, source, event);
      noteFencingToken(books, observer, started, event.fencingToken);
      noteSaver(books, event);
      noteSpecVersion(books, started, event.specVersion);
      if (!run || run.state === "Requested") meetRun(books, observer, started);
      noteAttempt(books, observer, event);
      return catchUp(books, observer, started, run === undefined);
    }
    case "RunUpdated":
      return noteUpdate(books, observer, run ?? metRun(books, observer, source, event), event);
    case "RunRetrying": {
      const retrying = run ?? record(books, observer, source, event);
      // A run that was admitted, and waits for a slot, does not ask any more.
      if (!run || run.state === "Requested") meetRun(books, observer, retrying);
      return noteRetry(books, observer, event);
    }
    case "RunHeld":
      if (run) run.deliveryCount ??= event.deliveryCount ?? null;
      return holdOn(books, observer, run ?? record(books, observer, source, event), source, event);
    case "RunStopped":
    case "RunFailed":
    case "RunCompleted":
    case "RunReleased":
      return applyEnd(books, observer, run ?? metRun(books, observer, source, event), event);
    default:
      return event satisfies never;
  }
}

function holdOn(
  books: Books,
  observer: ObserverBook,
  run: RunBook,
  source: Source,
  event: Extract<RunEvent, { kind: "RunHeld" }>,
): void {
  noteFencingToken(books, observer, run, event.fencingToken);
  noteSaver(books, event);
  noteSpecVersion(books, run, event.specVersion);
  takeBack(books, observer, run, source);
  catchUp(books, observer, run);
}

/**
 * Notes the version that the run goes on with, where its service says so. Nothing else of the run need be new, as when its handler begins
 * again on another version.
 */
function noteSpecVersion(books: Books, run: RunBook, told: number | undefined): void {
  if (told === undefined || told === run.specVersion) return;
  run.specVersion = told;
  books.changedRuns.add(run);
}

function noteAttempt(books: Books, observer: ObserverBook, event: Extract<RunEvent, { kind: "RunStarted" }>): void {
  const { runId, attempt, quietForMs, at } = event;
  if (observer.currentRunId !== runId) return;
  observer.attempts = attempt;
  books.changedObservers.add(observer);
  const run = books.runs.get(runId);
  if (observer.status === "Retrying") {
    observer.restarts = (observer.restarts ?? 0) + 1;
    if (run) books.count(run, "starts");
    applyInput(books, observer, "run-current", run);
  }
  const isSilent = quietForMs !== undefined && observer.status === "Processing";
  if (run && isSilent !== (observer.silentSinceMs !== null)) noteSilence(books, run, at, quietForMs);
  observer.silentSinceMs = isSilent ? Math.max(0, at - quietForMs) : null;
}

function noteSilence(books: Books, run: RunBook, atMs: number, quietForMs: number | undefined): void {
  if (quietForMs === undefined) tellStep(run, { kind: "heard", atMs });
  else tellStep(run, { kind: "silent", atMs, text: `silent for ${Math.round(quietForMs / 1_000)} s` });
  books.changedRuns.add(run);
}

/**
 * A service tells only the last of attempts that follow each other fast: the number says how many there were. What was told of them is
 * counted by that, before the observer's own number is.
 */
function countFailures(books: Books, observer: ObserverBook, run: RunBook, attempts: number): void {
  const before = observer.status === "Retrying" ? observer.attempts : Math.max(0, observer.attempts - 1);
  const failed = Math.max(1, attempts - before);
  books.count(run, "failures", failed);
  books.count(run, "starts", failed - 1);
  if (failed > 1) observer.restarts = (observer.restarts ?? 0) + failed - 1;
}

function noteRetry(books: Books, observer: ObserverBook, event: RunRetrying): void {
  if (observer.currentRunId !== event.runId) return;
  if (isToldAgain(observer, event)) return;
  const run = books.runs.get(event.runId);
  if (run) countFailures(books, observer, run, event.attempt);
  observer.attempts = event.attempt;
  observer.lastError = event.error;
  books.changedObservers.add(observer);
  if (run) {
    const { name, message } = event.error;
    tellStep(run, { kind: "attempt-failed", atMs: event.at, attempt: event.attempt, text: `${name}: ${message}` });
    books.changedRuns.add(run);
  }
  applyInput(books, observer, "run-retrying");
  if (observer.status === "Retrying") observer.nextAttemptInMs = event.delayMs;
}

/** It still waits for a slot: that is no further attempt. */
const isToldAgain = ({ status, attempts, lastError }: ObserverBook, { attempt, error }: RunRetrying): boolean =>
  error.name === "NoSlotError" && lastError?.name === error.name && status === "Retrying" && attempts === attempt;

/** What the observer's machine is told of its run's end, and what stands with the run. */
function endOf(event: RunEnd): { input: ObserverInput; reason: RunEndReason } {
  switch (event.kind) {
    case "RunStopped": {
      const { reason } = event;
      // Neither `restarted` nor `superseded` acks the message: the observer goes on with another run.
      return { input: reason === "restarted" || reason === "superseded" ? "run-lost" : "run-stopped", reason };
    }
    case "RunFailed":
      return { input: "run-failed", reason: "failed" };
    case "RunCompleted":
      return { input: "run-completed", reason: "completed" };
    case "RunReleased":
      return { input: "run-lost", reason: reasonOfRelease(event) };
    default:
      return event satisfies never;
  }
}

function applyEnd(books: Books, observer: ObserverBook, run: RunBook, event: RunEnd): void {
  const { input, reason } = endOf(event);
  const failure = event.kind === "RunFailed" ? event : undefined;
  const isCurrent = observer.currentRunId === run.id;
  const speaksForObserver = isCurrent || (observer.currentRunId === null && run.revision === observer.revision);
  // The order was taken back, but on its way already: it has ended the one run that there is.
  const isItsOwn = isCurrent || observer.requestedRunId === run.id;
  const isAnswerToOther = ["duplicate", "obsolete", "not-wanted", "unknown"].includes(reason);
  if (event.kind === "RunStopped" && run.state !== "Ended") run.interruption = event.interruption ?? null;
  endRun(books, run, reason, event.at, failure?.error ?? null);
  if (!speaksForObserver || (isAnswerToOther && !isItsOwn)) return;
  if (failure) {
    countFailures(books, observer, run, failure.attempts);
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
    observer.lastError = { name: UNKNOWN_TYPE, message };
    books.changedObservers.add(observer);
  }
  applyInput(books, observer, event.reason === "stopped" ? "start-refused" : "type-unknown");
}

/**
 * A service that refuses a message had it from the broker: the run that the books hold for current has it no more, though nobody may know
 * yet what became of its service. Nothing follows from another message of the revision. A service of 0.1.0 does not know `taken-back`; its
 * run that answers RunHeld is told then that it is obsolete, or not wanted.
 */
function hasLostIts(books: Books, observer: ObserverBook, messageId: RunBook["messageId"]): boolean {
  const run = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  if (run?.messageId !== messageId) return false;
  loseMessage(books, run);
  observer.currentRunId = null;
  observer.lostRunBy = "lease-lost";
  books.changedObservers.add(observer);
  return true;
}

function loseMessage(books: Books, run: RunBook): void {
  if (books.isDead(run)) endRun(books, run, "service-gone", null);
  else supersede(books, run, run.deliveryCount === null ? "superseded" : "taken-back");
}

/**
 * The same holds for a second message that a service drops for a run that it keeps: that run says behind this that it is held, or asks once
 * more, and would be told to stop as a duplicate of a run that has no message any more. Nothing follows where this comes late: with the
 * session of the one that was kept, the broker has given the other's message to somebody else, too.
 */
export function applyDuplicateDropped(books: Books, { observerId, messageId, keptRunId }: DuplicateDropped): void {
  books.happened.push({ kind: "duplicate-dropped" });
  const observer = books.observers.get(observerId);
  const kept = books.runs.get(keptRunId);
  if (!observer || kept === undefined || kept.state === "Ended" || books.isDead(kept)) return;
  const asking = observer.requestedRunId === null ? undefined : books.runs.get(observer.requestedRunId);
  if (asking?.messageId === messageId && asking.id !== keptRunId) loseMessage(books, asking);
  if (observer.currentRunId !== keptRunId && hasLostIts(books, observer, messageId)) applyInput(books, observer, "run-lost");
}

/** Only a run that goes on says these. */
const LIVING_WORDS: ReadonlySet<RunEvent["kind"]> = new Set([
  "RunRequested",
  "RunStarted",
  "CheckpointSaved",
  "RunUpdated",
  "RunRetrying",
  "RunHeld",
]);

/**
 * A run of an observer that the books do not have: nobody could ever stop it but us, now. Its message comes back among the
 * errors, and if the books have lost it rather than removed it, it is recorded from there (readoption.ts).
 */
function stopUnknown(books: Books, source: Source, event: RunEvent): void {
  const { observerId, runId, messageId, revision } = event;
  if (LIVING_WORDS.has(event.kind))
    return books.want({ kind: "stop-run", observerId, runId, messageId, revision, ...source, reason: "unknown" });
  books.forget({ kind: "stop-run", runId });
}
