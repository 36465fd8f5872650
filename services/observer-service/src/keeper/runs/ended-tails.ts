import type { ErrorText, RunId } from "@unacked/contracts";
import { RunTail } from "./run-tail.ts";

const MAX_BYTES = 2_097_152;
const MAX_TAILS = 1_000;

/** The tails of the runs that ended last: people ask why an observer failed after it has. Bounded; the oldest go first. */
export class EndedTails {
  // A Map keeps the order of insertion, so the first entry is always the oldest.
  readonly #tails = new Map<RunId, { tail: RunTail; bytes: number }>();
  #bytes = 0;

  keep(runId: RunId, tail: RunTail): void {
    tail.close();
    this.#set(runId, tail);
  }

  /** What its handler says after its end; it need not have said anything before. @param maxBytes of a tail that begins with it */
  late(runId: RunId, what: string, error: ErrorText | undefined, maxBytes: number): void {
    const kept = this.#tails.get(runId);
    this.#bytes -= kept?.bytes ?? 0;
    this.#tails.delete(runId);
    const tail = kept?.tail ?? new RunTail(maxBytes);
    tail.close();
    tail.late(what, error);
    this.#set(runId, tail);
  }

  #set(runId: RunId, tail: RunTail): void {
    const { bytes } = tail;
    this.#tails.set(runId, { tail, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#tails) {
      if (this.#bytes <= MAX_BYTES && this.#tails.size <= MAX_TAILS) return;
      this.#tails.delete(oldest);
      this.#bytes -= freed;
    }
  }

  find(runId: RunId): RunTail | undefined {
    return this.#tails.get(runId)?.tail;
  }
}
