import { MAX_SLOT_DEATHS, SLOT_DEATH_REASONS, type SlotDeath, type SlotReport } from "@unacked/contracts";
import { sendableText } from "../../error-text.ts";

/** The memory of the slots that anybody may be placed in, together. */
export interface SlotsMemory {
  readonly usedBytes: number;
  /** The memory that they may take. */
  readonly limitBytes: number;
  /** The memory that they take beyond what they took when nothing ran in them. */
  readonly grownBytes: number;
}

/** What is reported about the processes that run handlers. */
export interface SlotsView {
  /** The processes of handlers. Empty if they run in this one. */
  slots(): SlotReport[];
  /** How past slots ended. */
  readonly history: SlotHistory;
  /** How many observers were in a slot that died, while it is unknown which of them did it. */
  readonly suspects: number;
  /** An estimate that costs little, as it is asked often. */
  memory(): SlotsMemory;
  /** Memory is short, so slots give back what they do not need. */
  collect(): void;
}

export type SlotDeathReason = (typeof SLOT_DEATH_REASONS)[number];

/** A death as far as it is known. It gets its time when it is noted. */
export interface NotedDeath extends Omit<SlotDeath, "at"> {
  readonly reason: SlotDeathReason;
}

const LATELY_MS = 600_000;
/** Reasons that point to something wrong; slots also end because they are told to. */
const WRONG: ReadonlySet<SlotDeathReason> = new Set(["culprit", "unnamed", "other"]);

/** How past slots of this service ended. Bounded, whatever they do. */
export class SlotHistory {
  #last: SlotDeath[] = [];
  #named: { death: SlotDeath; atMs: number } | undefined;
  readonly #deaths = new Map(SLOT_DEATH_REASONS.map((reason) => [reason, 0]));
  #latelyAtMs: number[] = [];
  readonly #recycled = new Map<string, number>();
  #stuck = 0;

  note({ culprit, culpritTask, why, end, ...death }: NotedDeath, nowMs = performance.now()): void {
    const noted: SlotDeath = {
      at: Date.now(),
      ...death,
      end: sendableText(end, 64),
      why: sendableText(why, 500),
      ...(culprit && { culprit }),
      ...(culpritTask && { culpritTask }),
    };
    if (isNamed(noted)) this.#named = { death: noted, atMs: nowMs };
    this.#last = [noted, ...this.#last].slice(0, MAX_SLOT_DEATHS);
    this.#deaths.set(death.reason, this.count(death.reason) + 1);
    if (WRONG.has(death.reason)) this.#latelyAtMs = [...this.#latelyAtMs.slice(-9_999), nowMs];
  }

  /** A slot has taken too much memory. @param types how many observers of each type ran in it */
  noteRecycled(types: Readonly<Record<string, number>>): void {
    for (const [type, runs] of Object.entries(types)) this.#recycled.set(type, (this.#recycled.get(type) ?? 0) + runs);
  }

  /** By type: how many observers were in slots that took too much memory. It is bounded by the types of a service. */
  get recycled(): ReadonlyMap<string, number> {
    return this.#recycled;
  }

  noteStuck(): void {
    this.#stuck += 1;
  }

  /** The last deaths, the newest first. Culprits of the last 10 minutes are not driven out by deaths that name nobody. */
  last(nowMs = performance.now()): SlotDeath[] {
    if (this.#last.some(isNamed) || this.#named === undefined || nowMs - this.#named.atMs >= LATELY_MS)
      return [...this.#last];
    return [...this.#last.slice(0, MAX_SLOT_DEATHS - 1), this.#named.death];
  }

  /** How many slots ended unwanted in the last 10 minutes. */
  lately(nowMs = performance.now()): number {
    this.#latelyAtMs = this.#latelyAtMs.filter((atMs) => nowMs - atMs < LATELY_MS);
    return this.#latelyAtMs.length;
  }

  /** How many ended for this reason since this service began. */
  count(reason: SlotDeathReason): number {
    return this.#deaths.get(reason) ?? 0;
  }

  /** How often an event loop did not turn for STUCK_MS. */
  get stuck(): number {
    return this.#stuck;
  }
}

const isNamed = ({ culprit, culpritTask }: SlotDeath): boolean => (culprit ?? culpritTask) !== undefined;
