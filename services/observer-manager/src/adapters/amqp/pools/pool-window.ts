/**
 * Half the number of unconfirmed messages for one quorum queue at which RabbitMQ stops to read from the publisher
 * (`quorum_commands_soft_limit`).
 */
const MIN_OPEN = 16;
const MAX_OPEN = 4_000;
/** How many wait behind slow confirms, in all windows together, so that a queue that is only slow has more to take. */
const KEPT = 250;

/** It was not sent, as one before it was not taken. */
export class NotTried extends Error {
  override readonly name = "NotTried";

  constructor(cause: unknown) {
    super("Nothing was sent: the pool's queue did not take what was sent before", { cause });
  }
}

interface WindowOptions {
  /** A message that has waited for longer is not tried, once another is confirmed. Default: it waits. */
  longestMs?: number;
  /** If none is confirmed for this long, only a share of KEPT waits on, and the rest is not tried. Default: all wait for what is open. */
  patienceMs?: number;
}

interface Waiting {
  sinceMs: number;
  resolve(): void;
  reject(error: NotTried): void;
}

/** The windows of all pools with messages on their way; or of all names of timers, which relate to their queues as pools do to theirs. */
export class PoolWindows {
  readonly #windows = new Map<string, PoolWindow>();
  readonly #options: WindowOptions;

  constructor(options: WindowOptions = {}) {
    this.#options = options;
  }

  async through(pool: string, send: () => Promise<void>): Promise<void> {
    const window = this.#windows.get(pool) ?? new PoolWindow(this.#options, () => Math.floor(KEPT / this.#windows.size));
    this.#windows.set(pool, window);
    try {
      await window.through(send);
    } finally {
      if (window.isIdle && this.#windows.get(pool) === window) this.#windows.delete(pool);
    }
  }

  /** No waiting message, in any window, is tried. */
  leave(cause: Error): void {
    for (const window of this.#windows.values()) window.leave(cause);
  }
}

/**
 * Bounds how many messages to one pool are open on the wire: 16, and one more with each confirm, so that they double with each round. If a
 * queue confirms nothing, RabbitMQ reads no more from the connection after 32, whatever else goes through it: stops, and messages to all
 * other pools. Messages that wait behind one that was not taken are not tried.
 */
export class PoolWindow {
  #size = MIN_OPEN;
  #open = 0;
  #waiting: Waiting[] = [];
  #patience: NodeJS.Timeout | undefined;
  /** Whether the patience has run out since the last confirm. */
  #isSlow = false;
  readonly #longestMs: number;
  readonly #patienceMs: number | undefined;
  readonly #kept: () => number;

  /** @param kept so many go on to wait where its patience runs out */
  constructor({ longestMs = Number.POSITIVE_INFINITY, patienceMs }: WindowOptions = {}, kept = () => KEPT) {
    this.#longestMs = longestMs;
    this.#patienceMs = patienceMs;
    this.#kept = kept;
  }

  get isIdle(): boolean {
    return this.#open === 0 && this.#waiting.length === 0;
  }

  /** Rejects like `send`, or with NotTried. */
  async through(send: () => Promise<void>): Promise<void> {
    if (this.#open < this.#size) this.#open += 1;
    else await this.#place();
    try {
      await send();
      this.#taken();
    } catch (error) {
      this.#refused(error);
      throw error;
    }
  }

  /** Waits for a place, which a finished send hands on. */
  #place(): Promise<void> {
    const place = new Promise<void>((resolve, reject) =>
      this.#waiting.push({ sinceMs: performance.now(), resolve, reject }),
    );
    if (this.#waiting.length === 1) this.#bePatient();
    if (this.#isSlow) this.#leaveRest();
    return place;
  }

  /** Starts the patience anew, if any message waits. */
  #bePatient(): void {
    clearTimeout(this.#patience);
    const ms = this.#patienceMs;
    if (ms === undefined || this.#waiting.length === 0) return;
    this.#patience = setTimeout(() => {
      this.#isSlow = true;
      this.#leaveRest();
    }, ms);
  }

  /** Rejects those beyond what may be kept, as there is no room for them. */
  #leaveRest(): void {
    const rest = this.#waiting.splice(this.#kept());
    for (const { reject } of rest) reject(new NotTried(new Error("its confirms are slow")));
  }

  #taken(): void {
    this.#open -= 1;
    this.#isSlow = false;
    this.#size = Math.min(MAX_OPEN, this.#size + 1);
    this.#leaveLate();
    const next = this.#waiting.splice(0, this.#size - this.#open);
    this.#open += next.length;
    this.#bePatient();
    for (const { resolve } of next) resolve();
  }

  /** Rejects late ones, which are the first in the list. */
  #leaveLate(): void {
    const sinceMs = performance.now() - this.#longestMs;
    const inTime = this.#waiting.findIndex((one) => one.sinceMs >= sinceMs);
    if (inTime === 0) return;
    const late = this.#waiting.splice(0, inTime < 0 ? this.#waiting.length : inTime);
    for (const { reject } of late) reject(new NotTried(new Error("its confirms take too long")));
  }

  #refused(error: unknown): void {
    this.#open -= 1;
    this.#isSlow = false;
    this.#size = MIN_OPEN;
    this.leave(error);
  }

  leave(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#bePatient();
    for (const { reject } of waiting) reject(new NotTried(error));
  }
}
