import type { StopCause } from "../../../wire/stop-cause.ts";
import type { Blame } from "../blame/blame.ts";
import type { Occupants } from "../placement/occupants.ts";
import { isInLine, type Placed } from "../placement/placed.ts";
import type { Placement } from "../placement/placement.ts";
import type { SlotEnds } from "./slot-ends.ts";

export interface StopsParts {
  readonly stopTimeoutMs: number;
  readonly blame: Pick<Blame, "keepByItself">;
  readonly occupants: Pick<Occupants, "countIn">;
  readonly placement: Pick<Placement, "waitNoMore">;
  readonly ends: Pick<SlotEnds, "end">;
}

/** Tells handlers to end. Guarantees: each stop ends, within its time with the handler, else with the handler's slot. */
export class Stops {
  readonly #parts: StopsParts;

  constructor(parts: StopsParts) {
    this.#parts = parts;
  }

  stop(placed: Placed, cause: StopCause): void {
    // While the end of a slot is reported to each run in it, one may end others that are not reported yet.
    if (placed.isOver) return;
    placed.cause = cause;
    const { slot, host, run } = placed;
    if (slot === undefined) {
      placed.isOver = true;
      this.#parts.placement.waitNoMore(placed);
      // It settles a turn later, as the runner is in the middle of a call to us.
      return void setImmediate(() => host.onSettled(run, { outcome: "stopped" }));
    }
    slot.process.send({ kind: "abort", attempt: placed.id, cause });
    if (placed.stopTimer === undefined) this.#limit(placed);
  }

  /** The run begins only now, as the one before it is over. Has it been told to end, it has had no time yet to hear of that. */
  begins(placed: Placed): void {
    if (placed.stopTimer !== undefined) this.#limit(placed);
  }

  #limit(placed: Placed): void {
    clearTimeout(placed.stopTimer);
    placed.stopTimer = setTimeout(() => this.#endSlotOf(placed), this.#parts.stopTimeoutMs);
  }

  #endSlotOf(placed: Placed): void {
    const { stopTimeoutMs, blame, occupants, ends } = this.#parts;
    const { slot, run, host } = placed;
    if (slot === undefined) return;
    // It has not begun: another run holds up its slot, and is found by its own signs.
    if (isInLine(placed)) return this.#limit(placed);
    run.log.error(
      {
        event: "slot-ended-for-stop",
        slot: slot.process.pid,
        forMs: stopTimeoutMs,
        others: occupants.countIn(slot) - 1,
      },
      "the handler ignores its abort: its slot is ended, and the other handlers in it begin again elsewhere",
    );
    host.onStuck(run);
    // It tries again, and may ignore its stop once more.
    if (placed.cause?.kind === "uncaught") blame.keepByItself(run.start.observerId);
    ends.end(slot, { kind: "ended-for", runId: run.runId });
  }
}
