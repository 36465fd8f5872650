import type { Log } from "../../../log.ts";
import { groupOfOne, judge, type SuspectGroup, searchOf, type Verdict } from "./suspicion.ts";

/** Without a death for this long nobody is suspected any more. */
const SUSPICION_LAPSES_MS = 600_000;
/** A run that was last in a slot that had grown may be what grows, and needs longer for it than that. */
const LAST_LAPSES_MS = 3_600_000;
/**
 * A run that was in a slot to which this happened, and within this time is in another to which it happens, may be the cause.
 */
const LATELY_MS = 600_000;
/**
 * Something from outside (a server that all files hold a connection to has ended) ends many slots at once, so runs that begin again in the
 * next slot are in several.
 */
const AT_ONCE_MS = 5_000;

/**
 * What ends slots and belongs to nobody. `unowned-error`: an error that belongs to no handler and no file · `blocked`: an event loop that
 * stands still outside of all handlers.
 */
export type Unowned = "unowned-error" | "blocked";
/**
 * What happens to slots without naming anybody: those two, or `growth`: it grows over its limit · `ended`: it ends by
 * itself, and says nothing.
 */
export type Mishap = "growth" | "ended" | Unowned;

const byMishap = <What>(make: () => What): Readonly<Record<Mishap, What>> => ({
  growth: make(),
  ended: make(),
  "unowned-error": make(),
  blocked: make(),
});

/** Where an observer has to run that is kept from the others. */
export type Apart = { kind: "suspects"; group: SuspectGroup } | { kind: "alone"; observerId: string };

/**
 * Who is suspected of having ended slots, and who was found guilty. Receives deaths that name nobody, culprits, recycled slots. Guarantees:
 * a search ends, by a name or by giving up; suspicion lapses. It is gone with this process, and the next one begins with none.
 */
export class Blame {
  readonly #log: Log;
  readonly #onLapsed: (group: SuspectGroup) => void;
  /** By observer: the group of suspects that it belongs to. */
  readonly #groups = new Map<string, SuspectGroup>();
  /** Observers that are guilty, and try again alone. */
  readonly #guilty = new Set<string>();
  /** By observer: when it was last in a slot to which the mishap happened. */
  readonly #wereInAtMs = byMishap(() => new Map<string, number>());
  /** The groups that were found for the mishap. */
  readonly #groupsOf = byMishap(() => new Set<SuspectGroup>());
  /** When an unowned mishap last ended a slot and counted. */
  readonly #unownedAtMs = new Map<Unowned, number>();
  /** When the mishap last happened to a slot in which nothing has ever run. */
  readonly #byItselfAtMs = new Map<Mishap, number>();

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

  groupOf(observerId: string): SuspectGroup | undefined {
    return this.#groups.get(observerId);
  }

  isGuilty(observerId: string): boolean {
    return this.#guilty.has(observerId);
  }

  /** Undefined means that it runs among all others. */
  apartOf(observerId: string): Apart | undefined {
    // A quick answer, as mostly nobody is suspected of anything, and thousands start at once.
    if (this.#guilty.size + this.#groups.size === 0) return undefined;
    if (this.#guilty.has(observerId)) return { kind: "alone", observerId };
    const group = this.#groups.get(observerId);
    return group && { kind: "suspects", group };
  }

  /** Whether it is a suspect that is kept alone, as far as there are slots for that. */
  isByItself(observerId: string): boolean {
    return this.#groups.get(observerId)?.members.length === 1;
  }

  /** It is guilty: from now on it tries again alone. */
  convict(observerId: string): void {
    this.#guilty.add(observerId);
    this.#groups.delete(observerId);
  }

  /** It did nothing that ends a slot, but its slot had to be ended for it: if that happens again, nobody else will be there. */
  keepByItself(observerId: string): void {
    if (!this.#guilty.has(observerId)) this.#keepApart(groupOfOne(observerId));
  }

  /** It has been well for long enough, or is over: the next time that it starts it may run among others again. */
  acquit(observerId: string): void {
    this.#guilty.delete(observerId);
  }

  /**
   * One of these did it, and nobody knows which: they are split, or the only one is guilty, or the search stops. Each round leaves a
   * group one fewer. A round in which two groups had to share a slot says nothing, and does not count; but only for so long
   * (suspicion.ts).
   */
  suspect(observers: readonly string[], nowMs = performance.now()): Verdict {
    const groups = [...new Set(observers.flatMap((observer) => this.#groups.get(observer) ?? []))];
    const { roundsLeft, sharedSinceMs } = groups.length === 0 ? {} : searchOf(groups, nowMs);
    const verdict = judge(observers, roundsLeft, sharedSinceMs);
    if (verdict.kind === "guilty") this.convict(verdict.observer);
    if (verdict.kind === "split") {
      for (const group of verdict.groups) this.#keepApart(group);
      this.#log.warn(
        { event: "slot-suspects", suspects: observers.length, roundsLeft: verdict.groups[0].roundsLeft },
        "it is not known which handler ended a slot: its handlers are split over two, to find out",
      );
    }
    if (verdict.kind === "given-up") {
      for (const observer of verdict.observers) this.#groups.delete(observer);
      this.#log.error(
        { event: "slot-search-given-up", suspects: observers.length },
        "it could not be found out which handler ends slots: the search stops",
      );
    }
    return verdict;
  }

  /** Their slot has ended by itself. @returns undefined if slots in which nothing has ever run do so, too */
  noteEnded(observers: readonly string[], nowMs = performance.now()): Verdict | undefined {
    if (this.happensByItself("ended", nowMs)) return undefined;
    const verdict = this.suspect(observers, nowMs);
    if (verdict.kind === "split") for (const group of verdict.groups) this.#groupsOf.ended.add(group);
    return verdict;
  }

  /**
   * The mishap has happened to their slot, and they begin again elsewhere. Those that were in another such slot not long ago
   * are suspects. If it happens to many slots, nearly all innocents come to be in two, so a single one is only kept by
   * itself.
   *
   * @returns those that were in two
   */
  noteMishap(what: Mishap, observers: readonly string[], nowMs = performance.now()): readonly string[] {
    const wereInAtMs = this.#wereInAtMs[what];
    for (const [observer, atMs] of wereInAtMs) if (nowMs - atMs > LATELY_MS) wereInAtMs.delete(observer);
    const again = this.happensByItself(what, nowMs) ? [] : observers.filter((observer) => wereInAtMs.has(observer));
    for (const observer of observers) wereInAtMs.set(observer, nowMs);
    for (const group of this.#groupsAmong(again)) this.#groupsOf[what].add(group);
    return again;
  }

  /**
   * If it happens right after the same has ended another slot, nobody becomes a suspect by it; existing suspects are still searched.
   *
   * @returns those that were in two
   */
  noteUnowned(what: Unowned, observers: readonly string[], nowMs = performance.now()): readonly string[] {
    if (!observers.some((observer) => this.isSuspect(observer))) {
      const lastMs = this.#unownedAtMs.get(what) ?? Number.NEGATIVE_INFINITY;
      if (nowMs - lastMs < AT_ONCE_MS) return [];
      this.#unownedAtMs.set(what, nowMs);
    }
    return this.noteMishap(what, observers, nowMs);
  }

  /** It was the last in a slot to which that happened, and others had been there before, so it is kept by itself. */
  noteLast(what: Mishap, observer: string): void {
    const group = groupOfOne(observer);
    this.#keepApart(group, LAST_LAPSES_MS);
    this.#groupsOf[what].add(group);
  }

  /** Makes suspects of those that were in two. @returns the groups that they are in now */
  #groupsAmong(again: readonly string[]): readonly SuspectGroup[] {
    const [only, ...others] = again;
    if (only === undefined) return [];
    if (others.length === 0) this.#keepApart(groupOfOne(only));
    else this.suspect(again);
    return [...new Set(again.flatMap((observer) => this.#groups.get(observer) ?? []))];
  }

  /** It has happened to a slot in which nothing has ever run, so those suspected of it no longer are. */
  noteByItself(what: Mishap, nowMs = performance.now()): void {
    this.#byItselfAtMs.set(what, nowMs);
    for (const group of this.#groupsOf[what]) {
      this.clear(group);
      this.#onLapsed(group);
    }
    this.#groupsOf[what].clear();
  }

  /** Whether the files do it by themselves. They then do it in every slot, so whoever is there, even ten times, has not done it. */
  happensByItself(what: Mishap, nowMs = performance.now()): boolean {
    const atMs = this.#byItselfAtMs.get(what);
    return atMs !== undefined && nowMs - atMs <= LATELY_MS;
  }

  /** Clears these of suspicion. */
  clear(group: SuspectGroup): void {
    for (const observer of group.members) if (this.#groups.get(observer) === group) this.#groups.delete(observer);
  }

  #keepApart(group: SuspectGroup, lapsesMs = SUSPICION_LAPSES_MS): void {
    for (const observer of group.members) this.#groups.set(observer, group);
    const timer = setTimeout(() => {
      for (const groups of Object.values(this.#groupsOf)) groups.delete(group);
      this.clear(group);
      this.#onLapsed(group);
    }, lapsesMs);
    timer.unref();
  }
}
