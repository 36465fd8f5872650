import type { HandledRun } from "../../runs/handlers.ts";
import type { Slot } from "../slot.ts";
import { isInLine, type Placed } from "./placed.ts";

/** Which runs are in which slot, and which of them go one after the other. */
export class Occupants {
  readonly #inSlots = new Map<Slot, Map<number, Placed>>();
  /** When each slot last got a run. */
  readonly #lastTurns = new WeakMap<Slot, number>();
  #turns = 0;

  in(slot: Slot): Placed[] {
    return [...(this.#inSlots.get(slot)?.values() ?? [])];
  }

  /** The runs in a slot without those that wait behind others. */
  begunIn(slot: Slot): Placed[] {
    return this.in(slot).filter((placed) => !isInLine(placed));
  }

  /** The runs in all slots. */
  all(): Placed[] {
    return [...this.#inSlots.keys()].flatMap((slot) => this.in(slot));
  }

  find(slot: Slot, attempt: number): Placed | undefined {
    return this.#inSlots.get(slot)?.get(attempt);
  }

  countIn(slot: Slot): number {
    return this.#inSlots.get(slot)?.size ?? 0;
  }

  /** The slots of these runs. */
  slotsOf(runs: ReadonlySet<HandledRun>): Slot[] {
    return [...this.#inSlots.keys()].filter((slot) => this.in(slot).some(({ run }) => runs.has(run)));
  }

  /** Orders slots by when they last got a run: the less, the longer ago. */
  lastTurnOf(slot: Slot): number {
    return this.#lastTurns.get(slot) ?? 0;
  }

  put(placed: Placed, slot: Slot): void {
    const { observerId } = placed.run.start;
    placed.slot = slot;
    placed.beganMs = performance.now();
    this.#turns += 1;
    this.#lastTurns.set(slot, this.#turns);
    slot.onlyObserver = slot.hasRun && slot.onlyObserver !== observerId ? undefined : observerId;
    slot.hasRun = true;
    const inSlot = this.#inSlots.get(slot) ?? new Map<number, Placed>();
    this.#inSlots.set(slot, inSlot.set(placed.id, placed));
  }

  /** Puts it into the slot of another, to begin when that, and all that wait behind it, have settled. */
  putBehind(placed: Placed, other: Placed, slot: Slot): void {
    other.line ??= { id: other.id, left: [other] };
    other.line.left.push(placed);
    placed.line = other.line;
    this.put(placed, slot);
  }

  remove(slot: Slot, placed: Placed): void {
    placed.isOver = true;
    this.#inSlots.get(slot)?.delete(placed.id);
    const { line } = placed;
    if (line === undefined) return;
    const place = line.left.indexOf(placed);
    line.left.splice(place, 1);
    const [next] = line.left;
    if (place === 0 && next !== undefined) next.beganMs = performance.now();
  }

  /** The slot is gone. @returns the runs that were in it */
  removeAll(slot: Slot): Placed[] {
    const placed = this.in(slot);
    for (const one of placed) one.isOver = true;
    this.#inSlots.delete(slot);
    return placed;
  }
}
