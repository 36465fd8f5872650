import type { DataSource } from "typeorm";

/** A pool and a type that have a task which is Ready. */
export interface WaitingKind {
  pool: string;
  type: string;
}

/**
 * One probe for each. Clients choose pools and types freely, hence the limit. Index: tasks_ready_of_type; the table is not read, but for
 * what a long snapshot keeps.
 */
const KINDS = `
  WITH RECURSIVE kinds AS (
    (SELECT pool, type FROM tasks WHERE status = 'Ready' ORDER BY pool, type LIMIT 1)
    UNION ALL
    SELECT next.pool, next.type FROM kinds k CROSS JOIN LATERAL (
      SELECT pool, type FROM tasks WHERE status = 'Ready' AND (pool, type) > (k.pool, k.type) ORDER BY pool, type LIMIT 1) next)
  SELECT pool, type FROM kinds LIMIT 1000`;

const KNOWN_FOR_MS = 1_000;
/** Beside a long snapshot a look takes long, and is to take a tenth of the time at most. */
const KNOWN_FOR_TIMES = 10;

/**
 * What waits anywhere, as it was about a second ago: a hint, which workers outside who find nothing ask for again and again. It is one look
 * for all of them, however many they are.
 */
export class WaitingKinds {
  readonly #dataSource: DataSource;
  #kinds: Promise<WaitingKind[]> = Promise.resolve([]);
  #knownUntilMs = Number.NEGATIVE_INFINITY;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  /** In the order of the pools. */
  get(): Promise<WaitingKind[]> {
    if (performance.now() >= this.#knownUntilMs) this.#look();
    return this.#kinds;
  }

  /** While it is under way all wait for it; one that failed is done again by the next who asks. */
  #look(): void {
    const fromMs = performance.now();
    this.#knownUntilMs = Number.POSITIVE_INFINITY;
    this.#kinds = this.#dataSource.query<WaitingKind[]>(KINDS);
    this.#kinds.then(
      () => {
        const tookMs = performance.now() - fromMs;
        this.#knownUntilMs = performance.now() + Math.max(KNOWN_FOR_MS, KNOWN_FOR_TIMES * tookMs);
      },
      () => {
        this.#knownUntilMs = Number.NEGATIVE_INFINITY;
      },
    );
  }
}

/** Those of the types that wait in another pool and not in this one, each with the first of these pools. */
export function elsewhere(kinds: readonly WaitingKind[], asked: { pool: string; types: readonly string[] }): WaitingKind[] {
  return asked.types.flatMap((type) => {
    const pools = kinds.filter((kind) => kind.type === type).map(({ pool }) => pool);
    const [first] = pools;
    return first === undefined || pools.includes(asked.pool) ? [] : [{ type, pool: first }];
  });
}
