import type { Log } from "../../log.ts";
import { groupOfOne, judge, type SuspectGroup, type Verdict } from "./suspicion.ts";

/** Without a death for so long nobody is suspected any more. */
const SUSPICION_LAPSES_MS = 600_000;
/** A run that was in a slot that grew over its limit, and so soon is in another that does, may be what makes them grow. */
const RECYCLED_LATELY_MS = 600_000;

/** Where an observer that is not like the others has to run. */
export type Apart = { kind: "suspects"; group: SuspectGroup } | { kind: "alone"; observerId: string };

/**
 * Who is suspected of having ended slots, and who was found guilty. Comes in: deaths that nobody can be named for, culprits,
 * recycled slots. Guarantees: a search ends, by a name or by giving up; suspicion lapses. It is gone with this process, and the next one begins with none.
 */
export class Blame {
  readonly #log: Log;
  readonly #onLapsed: (group: SuspectGroup) => void;
  /** By observer: the suspects it is among. */
  readonly #groups = new Map<string, SuspectGroup>();
  /** Observers that try again alone. */
  readonly #guilty = new Set<string>();
  readonly #recycledAtMs = new Map<string, number>();

  constructor(log: Log, onLapsed: (group: SuspectGroup) => void) {
    this.#log = log;
    this.#onLapsed = onLapsed;
  }

  /** How many observers are suspects now. */
  get suspects(): number {
    return this.#groups.size;
  }

  isSuspect(observerId: string): boolean {
    return this.#groups.has(observerId);
  }

  isGuilty(observerId: string): boolean {
    return this.#guilty.has(observerId);
  }

  /** Undefined: among all others. */
  apartOf(observerId: string): Apart | undefined {
    // Mostly nobody is suspected of anything, and thousands start at once.
    if (this.#guilty.size + this.#groups.size === 0) return undefined;
    if (this.#guilty.has(observerId)) return { kind: "alone", observerId };
    const group = this.#groups.get(observerId);
    return group && { kind: "suspects", group };
  }

  /** It did it: from now on it tries again alone. */
  convict(observerId: string): void {
    this.#guilty.add(observerId);
    this.#groups.delete(observerId);
  }

  /** It has been well for so long, or is over, that it may live among others again, the next time that it starts. */
  acquit(observerId: string): void {
    this.#guilty.delete(observerId);
  }

  /**
   * One of these did it, and nobody knows which: they are split, or the only one is guilty, or the search stops. A round in which
   * two groups had to share a slot is none.
   */
  suspect(observers: readonly string[]): Verdict {
    const groups = new Set(observers.flatMap((observer) => this.#groups.get(observer) ?? []));
    const roundsLeft = Math.max(...[...groups].map((group) => group.roundsLeft)) + (groups.size > 1 ? 1 : 0);
    const verdict = judge(observers, groups.size === 0 ? undefined : roundsLeft);
    if (verdict.kind === "guilty") this.convict(verdict.observer);
    if (verdict.kind === "split") {
      for (const group of verdict.groups) this.#keepApart(group);
      this.#log.warn(
        { event: "slot-suspects", suspects: observers.length, roundsLeft: verdict.groups[0].roundsLeft },
        "nobody can be named for the end of a slot: its handlers are split over two, to find out",
      );
    }
    if (verdict.kind === "given-up") {
      for (const observer of verdict.observers) this.#groups.delete(observer);
      this.#log.error(
        { event: "slot-search-given-up", suspects: observers.length },
        "it was not found out who ends slots: the search stops",
      );
    }
    return verdict;
  }

  /**
   * Their slot grew over its limit, and they begin again elsewhere. Those that were in another one that did, not long ago, are
   * suspects: where many slots grow, nearly all innocents come to be in two. So a single one is only kept by itself.
   */
  noteRecycled(observers: readonly string[], nowMs = performance.now()): void {
    for (const [observer, atMs] of this.#recycledAtMs)
      if (nowMs - atMs > RECYCLED_LATELY_MS) this.#recycledAtMs.delete(observer);
    const again = observers.filter((observer) => this.#recycledAtMs.has(observer));
    for (const observer of observers) this.#recycledAtMs.set(observer, nowMs);
    const [only, ...others] = again;
    if (only === undefined) return;
    if (others.length > 0) this.suspect(again);
    else this.#keepApart(groupOfOne(only));
  }

  /** These are suspected no more. */
  clear(group: SuspectGroup): void {
    for (const observer of group.members) if (this.#groups.get(observer) === group) this.#groups.delete(observer);
  }

  #keepApart(group: SuspectGroup): void {
    for (const observer of group.members) this.#groups.set(observer, group);
    const timer = setTimeout(() => {
      this.clear(group);
      this.#onLapsed(group);
    }, SUSPICION_LAPSES_MS);
    timer.unref();
  }
}
