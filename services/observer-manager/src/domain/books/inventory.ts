import type { Inventory, InventoryRun, RunRequested } from "@unacked/contracts";
import { noteSaver } from "../observers/checkpoints.ts";
import { isTakenBackFor, reviveToStop, type Source } from "../observers/current-run.ts";
import { loseRun } from "../observers/observer-input.ts";
import { applyRunEvent } from "../observers/run-events.ts";
import { endRun } from "../observers/run-fate.ts";
import { catchUp } from "../observers/run-update.ts";
import type { Books } from "./books.ts";
import type { ObserverBook } from "./observer-book.ts";
import type { RunBook } from "./run-book.ts";
import type { ServiceBook } from "./service-book.ts";
import { askInventory, noteStanding } from "./service-orders.ts";

/**
 * What the service says it runs, held against the books, both ways. Parts come in order, none missing, so a run that is in
 * none of them is known to be missing at the last one.
 */
export function applyInventory(books: Books, service: ServiceBook, source: Source, inventory: Inventory): void {
  if (inventory.draining) noteStanding(books, service, { draining: true });
  for (const listed of inventory.runs) noteListed(books, source, listed, inventory.at);
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

/** Notes a run that the service lists. What the books do not have of it is news; a run that they had for ended is taken up, or stopped. */
function noteListed(books: Books, source: Source, listed: InventoryRun, at: number): void {
  const run = books.runs.get(listed.runId);
  const observer = books.observers.get(listed.observerId);
  if (listed.requested === true) return noteRequest(books, source, { kind: "RunRequested", ...listed, at });
  noteSaver(books, listed);
  if (run && observer) noteListedVersion(books, observer, run, listed.specVersion);
  if (!run || run.state === "Requested") return applyRunEvent(books, source, { kind: "RunStarted", ...listed, at });
  if (run.state !== "Current" && observer?.currentRunId === null)
    return applyRunEvent(books, source, { kind: "RunHeld", ...listed, at });
  if (run.state !== "Ended") return;
  const current = observer?.currentRunId ? books.runs.get(observer.currentRunId) : undefined;
  reviveToStop(books, run, source, current && isTakenBackFor(run, current) ? "taken-back" : "superseded");
}

/** A listed run that asks counts as if it asked now, unless it is superseded and another run has its observer. */
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
