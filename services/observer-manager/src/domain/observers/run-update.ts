import type { RunUpdated } from "@unacked/contracts";
import type { Books } from "../books/books.ts";
import type { ObserverBook } from "../books/observer-book.ts";
import type { RunBook } from "../books/run-book.ts";
import { applyInput } from "./observer-input.ts";
import { tellStep } from "./run-story.ts";
import { isBehind, observedSpecVersion } from "./spec-change.ts";

/**
 * A run says how it takes what is wanted by now (docs/decisions/0022-hot-update.md). The order is said again until the answer is of the
 * version that is needed; one of an older version changes nothing of that.
 */
export function noteUpdate(books: Books, observer: ObserverBook, run: RunBook, event: RunUpdated): void {
  const { specVersion, outcome, at: atMs, reason, keeps } = event;
  const isKnown =
    outcome === "rejected" ? observer.rejectedUpdate?.specVersion === specVersion : run.specVersion === specVersion;
  if (!isKnown) tellOutcome(run, event);
  books.changedRuns.add(run);
  if (outcome === "applied") run.specVersion = specVersion;
  if (observer.currentRunId !== run.id) return;
  books.changedObservers.add(observer);
  if (specVersion < observer.neededSpecVersion) return;
  if (outcome === "rejected" && keeps !== undefined) {
    observer.rejectedUpdate = { specVersion, reason: reason ?? "its type does not say why", atMs, keeps };
    run.specVersion = keeps.specVersion;
  } else observer.rejectedUpdate = null;
  books.forget({ kind: "update-run", runId: run.id });
}

function tellOutcome(run: RunBook, { specVersion, outcome, reason, at: atMs }: RunUpdated): void {
  const why = reason === undefined ? "" : `: ${reason}`;
  if (outcome === "rejected") tellStep(run, { kind: "rejected", atMs, text: `version ${specVersion}${why}` });
  else {
    const how = outcome === "applied" ? "runs by" : "begins again with";
    tellStep(run, { kind: "updated", atMs, text: `${how} version ${specVersion}${why}` });
  }
}

/**
 * A run that has started with something older than is needed, as an order was lost or its message is older, is told. Where nobody there can
 * be told, it is stopped.
 * @param isNew the books have just met it: no order can be on its way to it
 */
export function catchUp(books: Books, observer: ObserverBook, run: RunBook, isNew = false): void {
  if (observer.currentRunId !== run.id || observer.pending !== null) return;
  const { rejectedUpdate } = observer;
  const observed = observedSpecVersion(observer, run) ?? 0;
  if (rejectedUpdate !== null && observed >= rejectedUpdate.specVersion) {
    observer.rejectedUpdate = null;
    books.changedObservers.add(observer);
  }
  if (!isBehind(observer, run)) return isNew ? undefined : books.forget({ kind: "update-run", runId: run.id });
  if (isRejected(observer)) return;
  const knowsIt = books.services.get(run.serviceId)?.features.includes("hot-update") === true;
  applyInput(books, observer, knowsIt ? "tell-update" : "update", run);
}

/** The version that is needed has been rejected. */
const isRejected = ({ rejectedUpdate, neededSpecVersion }: ObserverBook): boolean =>
  rejectedUpdate !== null && rejectedUpdate.specVersion >= neededSpecVersion;
