import { stat } from "node:fs";

/**
 * How many times longer the pool may be held than a handler may block the event loop: a slow disk, or many who wait for one, hold
 * it for seconds.
 */
const TIMES_THE_STUCK = 12;
/** The same if it is not known whether the pool's threads work. */
const TIMES_UNKNOWN = 2;

/** Node's thread pool takes no more calls. */
export class ThreadPoolHeldError extends Error {
  override readonly name = "ThreadPoolHeldError";

  /** @param isKnown its threads were seen not to work */
  constructor(forMs: number, isKnown: boolean) {
    super(
      `Node's thread pool has taken nothing on for ${Math.round(forMs / 1_000)} s${isKnown ? "" : ", or has that much to do before"}: calls that do not return (a FIFO that is opened, a disk that hangs) hold all of its threads, and all other calls of this slot to files wait for them`,
    );
  }
}

export interface PoolWatchParts {
  /** 0 means that nothing is watched. */
  readonly stuckMs: number;
  readonly tickMs: number;
  onHeld(error: ThreadPoolHeldError): void;
  /** Whether at most one run has begun: then nobody else waits for the pool, and the run is not ended on a guess. */
  isOneAlone(): boolean;
  /** The processor time of the pool's threads, in any unit. Undefined if it is not known. */
  worked(): number | undefined;
  call?(done: () => void): void;
}

/**
 * Checks whether Node's thread pool, which all handlers of a slot share, still works, by a call to a file every so often. A call that is
 * long out waits behind others, if the threads work, or for ever. (libuv looks names up with at most half of its threads, so they do not
 * hold it.) Counted in ticks of the event loop: a process that is kept from running, or is blocked, blames no pool.
 */
export class PoolWatch {
  readonly #parts: PoolWatchParts;
  readonly #everyTicks: number;
  #ticks = 0;
  #isOut = false;
  #isHeld = false;
  /** The threads' processor time when the count began. */
  #worked: number | undefined;

  constructor(parts: PoolWatchParts) {
    this.#parts = parts;
    this.#everyTicks = parts.stuckMs > 0 ? Math.ceil(parts.stuckMs / parts.tickMs) : Number.POSITIVE_INFINITY;
  }

  tick(): void {
    this.#ticks += 1;
    if (this.#isOut) return this.#look();
    if (this.#ticks < this.#everyTicks) return;
    this.#isOut = true;
    this.#countAgain();
    const { call = callFiles } = this.#parts;
    call(() => {
      this.#ticks = 0;
      this.#isOut = false;
    });
  }

  #countAgain(): void {
    this.#ticks = 0;
    this.#worked = this.#parts.worked();
  }

  #look(): void {
    const { tickMs, onHeld, isOneAlone, worked } = this.#parts;
    const isKnown = this.#worked !== undefined;
    const limit = TIMES_THE_STUCK * this.#everyTicks * (isKnown ? 1 : TIMES_UNKNOWN);
    if (this.#isHeld || this.#ticks < limit || (!isKnown && isOneAlone())) return;
    if (isKnown && worked() !== this.#worked) return this.#countAgain();
    this.#isHeld = true;
    onHeld(new ThreadPoolHeldError(limit * tickMs, isKnown));
  }
}

function callFiles(done: () => void): void {
  stat("/", done);
}
