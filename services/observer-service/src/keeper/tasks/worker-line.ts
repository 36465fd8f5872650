/** Of what has waited for so long, another service may have the turn. */
const PATIENCE_MS = 1_000;

/**
 * The task workers, and who waits for one: a task, or a batch of them. Of a bundle more may come than there are. First come, first served. Guarantees: no more
 * than `workers` have one at a time; who has waited for a second is given up, and told so.
 */
export class WorkerLine<Run extends object> {
  readonly #workers: number;
  readonly #begin: (run: Run) => void;
  readonly #giveUp: (run: Run) => void;
  readonly #busy = new Set<Run>();
  /** In the order in which they came; since when, in ms of `performance.now()`. */
  readonly #waiting = new Map<Run, number>();
  #isLooking = false;
  #isFilling = false;

  constructor(parts: { workers: number; begin: (run: Run) => void; giveUp: (run: Run) => void }) {
    this.#workers = parts.workers;
    this.#begin = parts.begin;
    this.#giveUp = parts.giveUp;
  }

  /** Half as many wait as there are workers: the next that are free have somebody here. */
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

  /** Whether it waits or has a worker: it needs none any more. */
  leave(run: Run): void {
    this.#waiting.delete(run);
    if (!this.#busy.delete(run) || this.#isFilling) return;
    this.#isFilling = true; // who begins may leave at once, and thousands may
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

  /** Its worker goes on with this one. */
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
