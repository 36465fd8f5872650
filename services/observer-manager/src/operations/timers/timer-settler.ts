import { setTimeout as sleep } from "node:timers/promises";
import type { TimerId } from "@unacked/contracts";
import type { Log } from "../log.ts";
import type { ClaimInFlight } from "./claim-in-flight.ts";
import type { FiringOutcome, TimerFiringStore } from "./timer-store.ts";

/** It waits so long for others to be given back with. */
const GATHER_MS = 2;
const AGAIN_MS = 500;
/**
 * After so long the confirmed ones of a claim wait for the others no more. It is longer than a claim takes under load, where each by itself
 * costs more.
 */
const TOGETHER_MS = 2_000;

export interface TimerSettlerParts {
  store: Pick<TimerFiringStore, "giveBack" | "fired" | "finish">;
  /** So many are written. */
  settled(timers: number): void;
  /** All of the claim is written. */
  finished(claim: ClaimInFlight): void;
  log: Log;
}

/**
 * Comes in: what became of what was published. Guarantee: it is written, first what is given back of a claim, and then that the claim is
 * over, as soon as the database can be reached while this process lives. A crash leaves the claim to be taken over, and all of it to be
 * fired once more.
 */
export class TimerSettler {
  readonly #parts: TimerSettlerParts;
  readonly #waiting = new Set<ClaimInFlight>();
  readonly #alarms = new Map<ClaimInFlight, NodeJS.Timeout>();
  /** Claims of which nobody waits until all is known. */
  readonly #apart = new Set<ClaimInFlight>();
  #working: Promise<void> | undefined;
  #isClosing = false;

  constructor(parts: TimerSettlerParts) {
    this.#parts = parts;
  }

  /** To be called before it is told what became of the claim's timers. */
  begin(claim: ClaimInFlight): void {
    this.#alarms.set(
      claim,
      setTimeout(() => {
        this.#apart.add(claim);
        if (claim.fired.length > 0) this.#write(claim);
      }, TOGETHER_MS),
    );
  }

  add(claim: ClaimInFlight, id: TimerId, outcome: FiringOutcome): void {
    claim.add(id, outcome);
    if (outcome !== "fired" || claim.isKnown || this.#apart.has(claim)) this.#write(claim);
  }

  /** Tries once more what is left, and no longer. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#working;
    for (const alarm of this.#alarms.values()) clearTimeout(alarm);
  }

  #write(claim: ClaimInFlight): void {
    this.#waiting.add(claim);
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    while (this.#waiting.size > 0) {
      await sleep(GATHER_MS);
      const some = [...this.#waiting];
      this.#waiting.clear();
      if (await this.#isWritten(some)) continue;
      for (const claim of some) this.#waiting.add(claim);
      if (this.#isClosing) break;
      await sleep(AGAIN_MS);
    }
    this.#working = undefined;
  }

  async #isWritten(claims: readonly ClaimInFlight[]): Promise<boolean> {
    try {
      for (const claim of claims) await this.#writeUnfired(claim);
      await this.#writeApart(claims);
      await this.#finish(claims.filter((claim) => claim.isFinished && this.#alarms.has(claim)));
      return true;
    } catch (error) {
      const { length } = claims;
      this.#parts.log.warn({ err: error, claims: length }, "what became of timers could not be written; trying again");
      return false;
    }
  }

  async #writeUnfired(claim: ClaimInFlight): Promise<void> {
    const { store, settled } = this.#parts;
    for (const [outcome, ids] of claim.unfired) {
      const some = [...ids];
      await store.giveBack(claim.id, outcome, some);
      claim.written(outcome, some);
      settled(some.length);
    }
  }

  /** The rest of such a claim is written like this, too: its timers ended later than they were claimed. */
  async #writeApart(claims: readonly ClaimInFlight[]): Promise<void> {
    const { store, settled } = this.#parts;
    const some = claims.filter((claim) => this.#apart.has(claim)).map((claim) => ({ claim, fired: [...claim.fired] }));
    const ids = some.flatMap(({ fired }) => fired);
    if (ids.length === 0) return;
    await store.fired(ids);
    for (const { claim, fired } of some) claim.written("fired", fired);
    settled(ids.length);
  }

  async #finish(claims: readonly ClaimInFlight[]): Promise<void> {
    if (claims.length === 0) return;
    const { store, settled, finished } = this.#parts;
    await store.finish(claims.map(({ id, fired }) => ({ claimId: id, fired })));
    for (const claim of claims) {
      clearTimeout(this.#alarms.get(claim));
      this.#alarms.delete(claim);
      this.#apart.delete(claim);
      const { length } = claim.fired;
      finished(claim);
      settled(length);
    }
  }
}
