/** So many waiting events are a crowd. */
const CROWD_SIZE = 200;
/** Without a further one for so long, it is through. */
const QUIET_MS = 20;
/** No event is held back for longer. */
const MOST_HELD_MS = 250;

/**
 * Whether events had better wait for those that are coming. When thousands of runs start at once, telling of the first makes the
 * manager and the database work on the books while the others have yet to start, often on the same cores: so their starts go
 * first, and are told of together. An event for whose confirm a message waits (the end of a run) is never held back.
 */
export class Crowd {
  readonly #nowMs: () => number;
  #firstMs: number | undefined;
  #lastMs = 0;
  #isAwaited = false;

  /** @param nowMs of a monotonic clock */
  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** An event waits; `isAwaited`: something waits for its confirm. */
  note(isAwaited: boolean): void {
    this.#lastMs = this.#nowMs();
    this.#firstMs ??= this.#lastMs;
    this.#isAwaited ||= isAwaited;
  }

  isComing(waiting: number): boolean {
    if (waiting < CROWD_SIZE || this.#firstMs === undefined || this.#isAwaited) return false;
    const nowMs = this.#nowMs();
    return nowMs - this.#lastMs < QUIET_MS && nowMs - this.#firstMs < MOST_HELD_MS;
  }

  /** A batch is taken; what remains has waited long enough. */
  take(): void {
    this.#firstMs = undefined;
    this.#isAwaited = false;
  }
}
