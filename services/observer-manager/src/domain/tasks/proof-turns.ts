import { IN_DOUBT_AFTER_MS, SEEN_IN_DOUBT_MS } from "./proof-times.ts";

/** A pool in which something is not over that should be by now. */
export interface PoolInDoubt {
  pool: string;
  /** Something is Sent for long, runs on a service that has gone, or was cancelled long ago; else something only runs for long. */
  isUrgent: boolean;
}

/** What runs on a living service is looked after so often: its end may have been lost on the way. */
const ROUTINE_MS = 600_000;

/** Whose turn it is to be proven, by pool. It is kept in memory: if this manager dies, all are proven in their turn. Times are of one clock. */
export class ProofTurns {
  /** When a proof was concluded here last. */
  readonly #concludedMs = new Map<string, number>();
  /** Pools in which something was told that the books lack, and when that was found: what is Running there may have ended. */
  readonly #behind = new Map<string, number>();

  /** The books lack something of this pool: it is due before its turn, once all that may have been lost by now would be judged. */
  booksAreBehind(pool: string, nowMs: number): void {
    this.#behind.set(pool, nowMs);
  }

  /** @param inDoubt all pools that are */
  due(inDoubt: readonly PoolInDoubt[], nowMs: number): string[] {
    for (const { pool } of inDoubt) if (!this.#concludedMs.has(pool)) this.#concludedMs.set(pool, nowMs);
    for (const [pool, sinceMs] of this.#behind)
      if (nowMs - sinceMs > SEEN_IN_DOUBT_MS && !inDoubt.some((one) => one.pool === pool)) this.#behind.delete(pool);
    return inDoubt.filter(({ pool, isUrgent }) => isUrgent || this.#isDue(pool, nowMs)).map(({ pool }) => pool);
  }

  /** @param beganAgoMs how long ago that proof began */
  concluded(pool: string, beganAgoMs: number, nowMs: number): void {
    this.#concludedMs.set(pool, nowMs);
    const behindSinceMs = this.#behind.get(pool) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - beganAgoMs > behindSinceMs + IN_DOUBT_AFTER_MS) this.#behind.delete(pool);
  }

  #isDue(pool: string, nowMs: number): boolean {
    return (
      nowMs - (this.#concludedMs.get(pool) ?? nowMs) > ROUTINE_MS ||
      nowMs - (this.#behind.get(pool) ?? nowMs) > IN_DOUBT_AFTER_MS
    );
  }
}
