import { stat } from "node:fs";

/** Of the time for which a handler may block the event loop: a slow disk, or many who wait for one, hold the pool for seconds. */
const TIMES_THE_STUCK = 12;

/** Node's thread pool takes nothing on. */
export class ThreadPoolHeldError extends Error {
  override readonly name = "ThreadPoolHeldError";

  constructor(forMs: number) {
    super(
      `Node's thread pool has taken nothing on for ${Math.round(forMs / 1_000)} s: calls that do not return (a FIFO that is opened, a disk that hangs) hold all of its threads, and all other calls of this slot to files wait for them`,
    );
  }
}

/**
 * Whether Node's thread pool, which all handlers of a slot share, still does what it is asked: a call to a file is made every so
 * often. (Names are looked up by half of its threads at most, by libuv, and do not hold it.) Counted in ticks of the event loop: a process
 * that is kept from running, or is blocked, blames no pool.
 */
export class PoolWatch {
  readonly #everyTicks: number;
  readonly #tickMs: number;
  readonly #onHeld: (error: ThreadPoolHeldError) => void;
  readonly #call: (done: () => void) => void;
  #ticks = 0;
  #isOut = false;

  /** @param stuckMs 0: nothing is watched */
  constructor(stuckMs: number, tickMs: number, onHeld: (error: ThreadPoolHeldError) => void, call = callFiles) {
    this.#everyTicks = stuckMs > 0 ? Math.ceil(stuckMs / tickMs) : Number.POSITIVE_INFINITY;
    this.#tickMs = tickMs;
    this.#onHeld = onHeld;
    this.#call = call;
  }

  tick(): void {
    this.#ticks += 1;
    if (this.#isOut) {
      const limit = TIMES_THE_STUCK * this.#everyTicks;
      if (this.#ticks === limit) this.#onHeld(new ThreadPoolHeldError(limit * this.#tickMs));
      return;
    }
    if (this.#ticks < this.#everyTicks) return;
    this.#ticks = 0;
    this.#isOut = true;
    this.#call(() => {
      this.#ticks = 0;
      this.#isOut = false;
    });
  }
}

function callFiles(done: () => void): void {
  stat("/", done);
}
