import type { CheckpointSaved, InventoryRun, ObserverId, RunHeld, RunStarted } from "@unacked/contracts";
import type { Books } from "../books/books.ts";
import { isGiven } from "./admission.ts";

/** A checkpoint is kept whatever the run's standing. Which one of an observer's counts is decided when one is asked for. */
export function noteCheckpoint(books: Books, { runId, observerId, fencingToken, number, value }: CheckpointSaved): void {
  const before = books.savedCheckpoints.get(runId);
  books.forget({ kind: "tell-checkpoint", runId });
  if (!isOfGivenToken(books, observerId, fencingToken)) return;
  if (before === undefined || before.number < number)
    books.savedCheckpoints.set(runId, { observerId, fencingToken, number, value });
}

/** The run has started, so its checkpoint counts: as a copy of what it was given, until it saves one of its own. */
export function noteSaver(books: Books, event: RunStarted | RunHeld | InventoryRun): void {
  const { runId, observerId, fencingToken, checkpointNumber } = event;
  if (fencingToken !== undefined && checkpointNumber !== undefined && isOfGivenToken(books, observerId, fencingToken))
    books.startedSavers.set(runId, { observerId, fencingToken, number: checkpointNumber });
}

/** A token that is told wrongly must not stand above all that are to come. */
function isOfGivenToken(books: Books, observerId: ObserverId, fencingToken: number): boolean {
  const observer = books.observers.get(observerId);
  return observer === undefined || isGiven(observer, fencingToken);
}
