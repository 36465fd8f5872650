import type { ErrorText, RunEndReason, RunStopReason } from "@unacked/contracts";
import type { Books, RunBook } from "../books/books.ts";

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
  books.happened.push({ kind: "run-ended", reason });
  books.forgetAllOfRun(run.id);
}
