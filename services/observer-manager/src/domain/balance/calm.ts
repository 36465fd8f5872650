/** The services of a pool must have stayed the same for so long before a rebalance begins by itself. */
export const CALM_MS = 60_000;

/**
 * Since when the services of each pool are the same: none was born or died, connected anew, was drained or cordoned. One that flaps
 * keeps its pool from being calm, and so from being moved about. Known to one manager alone, which begins anew when it starts.
 */
export class Calm {
  readonly #seen = new Map<string, { fleet: string; sinceMs: number }>();

  /** @returns for how long the pool has been as it is now, in ms */
  look(pool: string, services: readonly { id: string; generation: number; standing: string }[], nowMs: number): number {
    const fleet = services
      .map(({ id, generation, standing }) => `${id}.${generation}.${standing}`)
      .toSorted()
      .join(" ");
    const before = this.#seen.get(pool);
    if (before?.fleet === fleet) return nowMs - before.sinceMs;
    this.#seen.set(pool, { fleet, sinceMs: nowMs });
    return 0;
  }

  /** Pools that are gone need not be remembered. */
  keepOnly(pools: ReadonlySet<string>): void {
    for (const pool of this.#seen.keys()) if (!pools.has(pool)) this.#seen.delete(pool);
  }
}
