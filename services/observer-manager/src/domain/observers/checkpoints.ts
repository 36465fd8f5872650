import type { CheckpointSaved, InventoryRun, ObserverId, RunHeld, RunStarted } from "@unacked/contracts";
import type { Books } from "../books/books.ts";
import { isGiven } from "./admission.ts";

/** Kept whatever the run's standing; which of an observer's counts is decided when one is asked for. */
export function noteCheckpoint(books: Books, { runId, observerId, epoch, number, value }: CheckpointSaved): void {
  const before = books.savedCheckpoints.get(runId);
  books.forget({ kind: "tell-checkpoint", runId });
  if (!isOfGivenEpoch(books, observerId, epoch)) return;
  if (before === undefined || before.number < number)
    books.savedCheckpoints.set(runId, { observerId, epoch, number, value });
}

/** It has started, so its checkpoint counts: as a copy of what it was given, until it saves one of its own. */
export function noteSaver(books: Books, event: RunStarted | RunHeld | InventoryRun): void {
  const { runId, observerId, epoch, checkpointNumber } = event;
  if (epoch !== undefined && checkpointNumber !== undefined && isOfGivenEpoch(books, observerId, epoch))
    books.startedSavers.set(runId, { observerId, epoch, number: checkpointNumber });
}

/** One that is told wrongly must not stand above all that are to come. */
function isOfGivenEpoch(books: Books, observerId: ObserverId, epoch: number): boolean {
  const observer = books.observers.get(observerId);
  return observer === undefined || isGiven(observer, epoch);
}
