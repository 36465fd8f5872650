/** What is done again and again. `failed` is told of what it rejects with. Both say in how many ms the next round is due. */
export interface LoopParts {
  round(): Promise<number>;
  failed(error: unknown): number;
}

/** Timers may come so much too early. */
const EARLY_MS = 5;

/**
 * Ms until a moment that this process's loops share if they look so often, or every few of them: what they ask to find nothing goes
 * together (adapters/postgres/statements/looks.ts).
 */
export const untilNext = (everyMs: number, nowMs = performance.now()): number =>
  everyMs - ((nowMs + EARLY_MS) % everyMs) + EARLY_MS;

/** The same, or ms until something is due where that is sooner, and never just before it. @param dueInMs null: nothing will be */
export const untilDue = (dueInMs: number | null, everyMs: number): number =>
  Math.min(untilNext(everyMs), Math.max(1, Math.ceil(dueInMs ?? Number.POSITIVE_INFINITY) + 1));

/**
 * Does one thing again and again, one round after the other and never two at a time. `Infinity`: not before it is woken. One that
 * is woken in the middle of a round makes the next one at once. Stopped, it begins no round any more; `over` resolves when the
 * one under way is.
 */
export class Loop {
  readonly #parts: LoopParts;
  readonly #stopping = new AbortController();
  #isWoken = false;
  #endPause: () => void = () => undefined;
  #over: Promise<void> = Promise.resolve();
  #hasBegun = false;

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** Aborts when it is stopped. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Resolves when no round is under way and none will be. */
  get over(): Promise<void> {
    return this.#over;
  }

  /** Idempotent. */
  start(inMs = 0): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#over = this.#run(inMs);
  }

  stop(): void {
    this.#stopping.abort();
    this.#endPause();
  }

  /** Stops it, and resolves when the round under way is over. */
  end(): Promise<void> {
    this.stop();
    return this.#over;
  }

  wake(): void {
    this.#isWoken = true;
    this.#endPause();
  }

  get isWoken(): boolean {
    return this.#isWoken;
  }

  /** Whether it has been woken since this was asked last. */
  takeWake(): boolean {
    const wasWoken = this.#isWoken;
    this.#isWoken = false;
    return wasWoken;
  }

  async #run(firstInMs: number): Promise<void> {
    await this.#pause(firstInMs);
    while (!this.isStopped) await this.#pause(await this.#round());
  }

  async #round(): Promise<number> {
    try {
      return await this.#parts.round();
    } catch (error) {
      return this.isStopped ? 0 : this.#parts.failed(error);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (ms <= 0 || this.#isWoken || this.isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined;
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = () => undefined;
  }
}
