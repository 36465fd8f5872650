import type { RunId } from "@unacked/contracts";
import { GOES_ON_AFTER_END, type Late, THREW_AFTER_END } from "../../wire/late.ts";
import { EndedTails } from "./ended-tails.ts";
import type { LiveRun } from "./live-run.ts";
import { RunTail } from "./run-tail.ts";

/** The last lines of runs, for those who ask: of those that are held here, and of those that ended last. */
export class RunTails {
  readonly #ended = new EndedTails();
  /** How much memory the tail of one run may take. */
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Created when the run says something, as most say little and there are many. */
  of(run: LiveRun): RunTail {
    run.tail ??= new RunTail(this.#maxBytes);
    return run.tail;
  }

  ofEnded(runId: RunId): RunTail | undefined {
    return this.#ended.find(runId);
  }

  ended({ runId, tail }: LiveRun): void {
    if (tail !== undefined) this.#ended.keep(runId, tail);
  }

  /** What a handler did after its end. @param run undefined: it is over; else it may try again */
  late(run: LiveRun | undefined, { runId, error }: Late): void {
    const what = error === undefined ? GOES_ON_AFTER_END : THREW_AFTER_END;
    if (run !== undefined) this.of(run).late(what, error);
    else this.#ended.late(runId as RunId, what, error, this.#maxBytes);
  }
}
