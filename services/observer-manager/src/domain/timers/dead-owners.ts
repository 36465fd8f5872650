/** A lease that has run out: whose, and when. */
export interface Lapsed {
  owner: string;
  leaseUntil: string;
}

/** A live owner renews several times in so long, also one whose database was away until just now. */
const SEEN_FOR_MS = 3_000;

/**
 * Who is dead: whose same lease was seen lapsed at each look for 3 s, by the clock of who looks. One look is not enough: after an
 * outage of the database every lease has lapsed. A look that fails begins anew.
 */
export class DeadOwners {
  #suspects = new Map<string, { leaseUntil: string; sinceMs: number }>();

  /** @returns those that are dead as of this look */
  look(lapsed: readonly Lapsed[], nowMs: number): string[] {
    const suspects = new Map<string, { leaseUntil: string; sinceMs: number }>();
    for (const { owner, leaseUntil } of lapsed) {
      const before = this.#suspects.get(owner);
      suspects.set(owner, before?.leaseUntil === leaseUntil ? before : { leaseUntil, sinceMs: nowMs });
    }
    this.#suspects = suspects;
    return [...suspects].filter(([, { sinceMs }]) => nowMs - sinceMs >= SEEN_FOR_MS).map(([owner]) => owner);
  }

  lookFailed(): void {
    this.#suspects.clear();
  }
}
