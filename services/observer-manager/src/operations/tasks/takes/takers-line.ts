import type { TakeTasks } from "@unacked/contracts";

export interface Kind {
  pool: string;
  type: string;
}

export interface Asking {
  asked: Pick<TakeTasks, "pool" | "types">;
}

/**
 * Those who wait, in the order in which they came, and by what they wait for: ten thousand may, each for a hundred types, so that nothing
 * is looked for among all of them.
 */
export class TakersLine<Waiter extends Asking> {
  /** The first to come has 1; a place is nobody else's later. */
  readonly #places = new Map<Waiter, number>();
  /** Those who wait, the first to come first, by pool and type. Nothing is kept of what nobody waits for. */
  readonly #pools = new Map<string, Map<string, Set<Waiter>>>();
  #lastPlace = 0;
  #kindCount = 0;

  get size(): number {
    return this.#places.size;
  }

  get lastPlace(): number {
    return this.#lastPlace;
  }

  all(): Waiter[] {
    return [...this.#places.keys()];
  }

  /** Undefined: the waiter has left. */
  placeOf(waiter: Waiter): number | undefined {
    return this.#places.get(waiter);
  }

  add(waiter: Waiter): void {
    this.#lastPlace += 1;
    this.#places.set(waiter, this.#lastPlace);
    const { pool, types } = waiter.asked;
    const ofPool = this.#pools.get(pool) ?? new Map<string, Set<Waiter>>();
    this.#pools.set(pool, ofPool);
    for (const type of types) {
      const ofType = ofPool.get(type);
      if (ofType !== undefined) ofType.add(waiter);
      else {
        ofPool.set(type, new Set([waiter]));
        this.#kindCount += 1;
      }
    }
  }

  /** @returns whether he was there */
  delete(waiter: Waiter): boolean {
    if (!this.#places.delete(waiter)) return false;
    const { pool, types } = waiter.asked;
    const ofPool = this.#pools.get(pool);
    for (const type of types) {
      const ofType = ofPool?.get(type);
      ofType?.delete(waiter);
      if (ofType?.size === 0 && ofPool?.delete(type)) this.#kindCount -= 1;
    }
    if (ofPool?.size === 0) this.#pools.delete(pool);
    return true;
  }

  /** How many kinds are waited for once this one waits, too. */
  kindCountWith({ pool, types }: Asking["asked"]): number {
    const ofPool = this.#pools.get(pool);
    return this.#kindCount + new Set(types.filter((type) => !ofPool?.has(type))).size;
  }

  /** What somebody waits for, each kind once. */
  kinds(): Kind[] {
    return [...this.#pools].flatMap(([pool, types]) => Array.from(types.keys(), (type) => ({ pool, type })));
  }

  waitersFor({ pool, type }: Kind): ReadonlySet<Waiter> | undefined {
    return this.#pools.get(pool)?.get(type);
  }

  isWaitedFor(pool: string, types: ReadonlySet<string>): boolean {
    const ofPool = this.#pools.get(pool);
    if (ofPool === undefined) return false;
    for (const type of types) if (ofPool.has(type)) return true;
    return false;
  }
}
