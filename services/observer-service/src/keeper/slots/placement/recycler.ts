import { asError } from "../../../error-text.ts";
import type { Log } from "../../../log.ts";
import type { Blame } from "../blame/blame.ts";
import type { Slot } from "../slot.ts";
import type { SlotHistory } from "../slot-history.ts";
import { type OverLimit, overText } from "../slot-memory.ts";
import { isInLine, type Placed, type Reason } from "./placed.ts";

export interface RecyclerParts {
  readonly log: Log;
  readonly blame: Blame;
  readonly history: Pick<SlotHistory, "noteRecycled">;
  /** The slot takes no more runs, and another takes its place. */
  retire(slot: Slot, reason: Reason): void;
  endSlot(slot: Slot, reason: Reason): void;
  /** Whether one more slot may be emptied now. Otherwise it is looked at again a second later. */
  mayEmptyOne(): boolean;
  /** Starts the slots that these will need. @returns whether they have all loaded */
  prepareFor(placed: readonly Placed[]): () => boolean;
}

const MOVED_AT_ONCE = 20;
const MOVE_PAUSE_MS = 50;
/** How long runs stay where they are while those slots start. */
const PREPARE_LIMIT_MS = 3_000;
/** How lately garbage must have been collected: some looks, which may be late. */
const COLLECTED_LATELY_MS = 3_000;

/**
 * Ends slots that take more memory than they may. Receives slots over their limit. Guarantees: its handlers are told to end and begin again
 * in another slot once that is there, a few at a time, and the slot goes with the last; if it goes on growing it is killed. A run that is
 * in a slot that grows twice is a suspect. A run alone in one is moved to a slot of its own, as others may have left what is kept there; if
 * nobody else has been there, its attempt fails, provided that it is over the limit without its garbage, too.
 */
export class Recycler {
  readonly #parts: RecyclerParts;

  constructor(parts: RecyclerParts) {
    this.#parts = parts;
  }

  recycle(slot: Slot, over: OverLimit, placed: readonly Placed[]): void {
    const { blame, endSlot, retire, mayEmptyOne, prepareFor } = this.#parts;
    const why = overText(over);
    const reason: Reason = { kind: "recycled", why };
    if (slot.isRetired) return over.isFar ? endSlot(slot, reason) : undefined;
    const begun = placed.filter((one) => !isInLine(one));
    const [only, ...others] = begun;
    if (only === undefined) {
      if (!slot.hasRun) blame.noteByItself("growth");
      return endSlot(slot, reason);
    }
    const isAlone = others.length === 0 && !blame.happensByItself("growth");
    if (isAlone) {
      if (!over.isFar && collects(slot)) return;
      if (this.#isItsDoing(slot, only))
        return endSlot(slot, {
          kind: "culprit",
          runId: only.run.runId,
          error: asError({
            name: "bytes" in over ? "MemoryLimitError" : "DescriptorLimitError",
            message: `the handler is alone in its slot: ${why}`,
          }),
        });
    }
    if (!over.isFar && !mayEmptyOne()) return;
    this.#tell(slot, over, begun);
    const observers = begun.map(({ run }) => run.start.observerId);
    blame.noteMishap("growth", observers);
    if (isAlone) blame.noteLast("growth", only.run.start.observerId);
    if (over.isFar) {
      retire(slot, reason);
      return endSlot(slot, reason);
    }
    const isPrepared = prepareFor(begun);
    retire(slot, reason);
    moveWhen(isPrepared, [...placed], why);
  }

  /** There is one slot more than there should be, and its place is needed. */
  dissolve(slot: Slot, placed: readonly Placed[], why = "its slot makes room for one that has to be alone"): void {
    this.#parts.log.info({ event: "slot-dissolved", slot: slot.process.pid, handlers: placed.length }, why);
    this.#parts.retire(slot, { kind: "dissolved", why });
    if (placed.length === 0) this.#parts.endSlot(slot, { kind: "dissolved", why });
    else move([...placed], why);
  }

  /**
   * Whether nobody else was ever there, or it is already known to be kept apart. After a call for many tasks each of them goes on alone.
   */
  #isItsDoing({ onlyObserver }: Slot, { run }: Placed): boolean {
    const { observerId } = run.start;
    return onlyObserver === observerId || this.#parts.blame.isByItself(observerId) || run.members !== undefined;
  }

  #tell(slot: Slot, over: OverLimit, placed: readonly Placed[]): void {
    const types: Record<string, number> = {};
    for (const { run } of placed) types[run.start.type] = (types[run.start.type] ?? 0) + 1;
    this.#parts.history.noteRecycled(types);
    const fields = { event: "slot-recycled", slot: slot.process.pid, ...over, handlers: placed.length, types };
    this.#parts.log.warn(fields, "a slot takes more than it may: its handlers begin again in another one");
  }
}

/**
 * Runs that have ended leave garbage, which is not the doing of the others. A slot is looked at each second while it is over its limit.
 *
 * @returns whether it is told to collect; if not, it has just collected, and what it takes is in use
 */
function collects(slot: Slot): boolean {
  const nowMs = performance.now();
  if (nowMs - slot.collectedAtMs < COLLECTED_LATELY_MS) return false;
  slot.collectedAtMs = nowMs;
  slot.process.send({ kind: "collect" });
  return true;
}

function moveWhen(isPrepared: () => boolean, placed: Placed[], why: string, limitMs = PREPARE_LIMIT_MS): void {
  if (isPrepared() || limitMs <= 0) return move(placed, why);
  setTimeout(() => moveWhen(isPrepared, placed, why, limitMs - MOVE_PAUSE_MS), MOVE_PAUSE_MS);
}

/** Moves a few at a time, so that it does not look like an outage. */
function move(placed: Placed[], why: string): void {
  for (const { run, host, cause, isOver } of placed.splice(0, MOVED_AT_ONCE))
    if (cause === undefined && !isOver) host.onMoved(run, { detail: why });
  if (placed.length > 0) setTimeout(() => move(placed, why), MOVE_PAUSE_MS);
}
