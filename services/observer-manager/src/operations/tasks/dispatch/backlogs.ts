import type { TaskQueueStore } from "./task-queue-store.ts";

/** A count holds for so long: what others have created or claimed meanwhile is not known. */
const HOLDS_MS = 250;

interface Backlog {
  readonly seenAtMs: number;
  left: number;
}

/** How many tasks of a type wait in a pool, counted now and then, and not beyond what is of interest. */
export class Backlogs {
  readonly #store: Pick<TaskQueueStore, "countReady">;
  /** Counts by pool and type. */
  readonly #seen = new Map<string, Backlog>();

  constructor(store: Pick<TaskQueueStore, "countReady">) {
    this.#store = store;
  }

  /** @param many nobody cares how many there are from here on: infinity is told */
  async of(pool: string, type: string, many: number): Promise<number> {
    const key = keyOf(pool, type);
    const seen = this.#seen.get(key);
    if (seen !== undefined && seen.left > 0 && performance.now() - seen.seenAtMs < HOLDS_MS) return seen.left;
    const count = await this.#store.countReady(pool, type, many);
    const left = count < many ? count : Number.POSITIVE_INFINITY;
    if (left > 0) this.#seen.set(key, { seenAtMs: performance.now(), left });
    else this.#seen.delete(key);
    return left;
  }

  claimed(pool: string, type: string, count: number): void {
    const seen = this.#seen.get(keyOf(pool, type));
    if (seen !== undefined) seen.left -= count;
  }
}

const keyOf = (pool: string, type: string): string => `${pool} ${type}`;
