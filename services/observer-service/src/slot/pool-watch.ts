import { stat } from "node:fs";

/** Of the time for which a handler may block the event loop: a slow disk, or many who wait for one, hold the pool for seconds. */
const TIMES_THE_STUCK = 12;
/** Where it cannot be told whether its threads work. */
const TIMES_UNKNOWN = 2;

/** Node's thread pool takes nothing on. */
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
  /** 0: nothing is watched. */
  readonly stuckMs: number;
  readonly tickMs: number;
  onHeld(error: ThreadPoolHeldError): void;
  /** One run at most has begun: nobody waits but who holds it, and that is not ended on a guess. */
  isOneAlone(): boolean;
  /** What processor time the pool's threads have taken, in any unit; undefined: it cannot be told. */
  worked(): number | undefined;
  call?(done: () => void): void;
}

/**
 * Whether Node's thread pool, which all handlers of a slot share, still does what it is asked: a call to a file is made every so
 * often. One that is long out waits behind others, where the threads work, or for ever. (Names are looked up by half of its threads at most, by libuv, and do not
 * hold it.) Counted in ticks of the event loop: a process that is kept from running, or is blocked, blames no pool.
 */
export class PoolWatch {
  readonly #parts: PoolWatchParts;
  readonly #everyTicks: number;
  #ticks = 0;
  #isOut = false;
  #isHeld = false;
  /** When the time began that is counted. */
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
