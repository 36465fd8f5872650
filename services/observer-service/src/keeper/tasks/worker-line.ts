/** A task that has waited for this long is given up, as another service may have room for it. */
const PATIENCE_MS = 1_000;

/**
 * The task workers, and the tasks, or batches, that wait for one. A bundle may bring more than there are workers. First come, first served.
 * Guarantees: no more than `workers` have one at a time; who has waited for a second is given up, and told so.
 */
export class WorkerLine<Run extends object> {
  readonly #workers: number;
  readonly #begin: (run: Run) => void;
  readonly #giveUp: (run: Run) => void;
  readonly #busy = new Set<Run>();
  /** In the order in which they came, with the time since when, in ms of `performance.now()`. */
  readonly #waiting = new Map<Run, number>();
  #isLooking = false;
  #isFilling = false;

  constructor(parts: { workers: number; begin: (run: Run) => void; giveUp: (run: Run) => void }) {
    this.#workers = parts.workers;
    this.#begin = parts.begin;
    this.#giveUp = parts.giveUp;
  }

  /** Whether at least half as many wait as there are workers, so that the next free ones have a task here. */
  get isStocked(): boolean {
    return this.#waiting.size >= this.#workers / 2;
  }

  /** Begins at once, or when a worker is free. */
  enter(run: Run): void {
    if (this.#busy.size < this.#workers) {
      this.#busy.add(run);
      return this.#begin(run);
    }
    this.#waiting.set(run, performance.now());
    if (this.#isLooking) return;
    this.#isLooking = true;
    setTimeout(() => this.#lookForTired(), PATIENCE_MS);
  }

  /** It needs no worker any more, whether it waits or has one. */
  leave(run: Run): void {
    this.#waiting.delete(run);
    if (!this.#busy.delete(run) || this.#isFilling) return;
    this.#isFilling = true; // whoever begins may leave at once, and thousands may
    try {
      this.#fill();
    } finally {
      this.#isFilling = false;
    }
  }

  #fill(): void {
    while (this.#busy.size < this.#workers) {
      const [next] = this.#waiting.keys();
      if (next === undefined) return;
      this.#waiting.delete(next);
      this.#busy.add(next);
      this.#begin(next);
    }
  }

  /** The worker of `run` goes on with `next`. */
  handOver(run: Run, next: Run): void {
    this.#busy.delete(run);
    this.#busy.add(next);
  }

  #lookForTired(): void {
    const nowMs = performance.now();
    for (const [run, sinceMs] of [...this.#waiting]) if (nowMs - sinceMs >= PATIENCE_MS) this.#giveUp(run);
    const [oldest] = this.#waiting.values();
    this.#isLooking = oldest !== undefined;
    if (oldest !== undefined) setTimeout(() => this.#lookForTired(), PATIENCE_MS - (nowMs - oldest) + 1);
  }
}
