import type { TimerId } from "@unacked/contracts";
import type { FiringOutcome, Unfired } from "./timer-store.ts";

/** A claim of this manager: what is known of its timers, and what of that is written. */
export class ClaimInFlight {
  readonly id: string;
  readonly claimedAtMs: number;
  /** Resolves when it is known of each timer what became of it. */
  readonly known: Promise<void>;
  #becameKnown: () => void = () => undefined;
  #unknown: number;
  /** How many are still in flight for the books, too. */
  #unwritten: number;
  #fired: TimerId[] = [];
  #unfired = new Map<Unfired, TimerId[]>();

  constructor(id: string, size: number, claimedAtMs: number) {
    this.id = id;
    this.claimedAtMs = claimedAtMs;
    this.#unknown = size;
    this.#unwritten = size;
    this.known = new Promise((resolve) => {
      this.#becameKnown = resolve;
    });
  }

  /** Timers whose confirmation is not written yet. */
  get fired(): readonly TimerId[] {
    return this.#fired;
  }

  /** Timers to be given back. */
  get unfired(): readonly [Unfired, readonly TimerId[]][] {
    return [...this.#unfired];
  }

  get isKnown(): boolean {
    return this.#unknown === 0;
  }

  /** Nothing of it is left but what was confirmed. */
  get isFinished(): boolean {
    return this.#unwritten === this.#fired.length;
  }

  add(id: TimerId, outcome: FiringOutcome): void {
    this.#listOf(outcome).push(id);
    this.#unknown -= 1;
    if (this.#unknown === 0) this.#becameKnown();
  }

  /** Notes that these are written: they were `fired`, or `unfired` in this way. */
  written(what: "fired" | Unfired, ids: readonly TimerId[]): void {
    this.#unwritten -= ids.length;
    if (what === "fired") this.#fired = this.#fired.slice(ids.length);
    else this.#leave(what, (this.#unfired.get(what) ?? []).slice(ids.length));
  }

  #listOf(outcome: FiringOutcome): TimerId[] {
    if (outcome === "fired") return this.#fired;
    const ids = this.#unfired.get(outcome) ?? [];
    this.#unfired.set(outcome, ids);
    return ids;
  }

  #leave(what: Unfired, ids: TimerId[]): void {
    if (ids.length > 0) this.#unfired.set(what, ids);
    else this.#unfired.delete(what);
  }
}
