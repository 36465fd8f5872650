/** Half of what RabbitMQ takes for a quorum queue that confirms nothing before it reads no more from who publishes (`quorum_commands_soft_limit`). */
const MIN_OPEN = 16;
const MAX_OPEN = 4_000;
/** So many wait behind those that are confirmed slowly, of all windows together: a queue that is only slow is to have more to take. */
const KEPT = 250;

/** It was not sent, as one before it could not be. */
export class NotTried extends Error {
  override readonly name = "NotTried";

  constructor(cause: unknown) {
    super("Nothing was sent: the pool's queue did not take what was sent before", { cause });
  }
}

interface WindowOptions {
  /** Whatever has waited for longer is not tried, once one is confirmed. Default: it waits. */
  longestMs?: number;
  /** Where none is confirmed for so long, only a share of KEPT waits on, and the rest is not tried. Default: all wait for what is open. */
  patienceMs?: number;
}

interface Waiting {
  sinceMs: number;
  resolve(): void;
  reject(error: NotTried): void;
}

/** The windows of all pools that have something on its way; or of all names of timers, which are to their queues what pools are to theirs. */
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

  /** Whatever waits, in any of them, is not tried. */
  leave(cause: Error): void {
    for (const window of this.#windows.values()) window.leave(cause);
  }
}

/**
 * How many messages to one pool are open on the wire: 16, and one more with each that is confirmed, so that they double with each answer. A queue that
 * confirms nothing has RabbitMQ read no more from the connection after 32, whatever else goes through it: stops, and what goes to all other pools. Whatever
 * waits behind one that was not taken is not tried.
 */
export class PoolWindow {
  #size = MIN_OPEN;
  #open = 0;
  #waiting: Waiting[] = [];
  #patience: NodeJS.Timeout | undefined;
  /** Its patience has run out since one was confirmed. */
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

  /** Rejects as `send` does, or with NotTried. */
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

  /** Who ends hands his place on. */
  #place(): Promise<void> {
    const place = new Promise<void>((resolve, reject) =>
      this.#waiting.push({ sinceMs: performance.now(), resolve, reject }),
    );
    if (this.#waiting.length === 1) this.#bePatient();
    if (this.#isSlow) this.#leaveRest();
    return place;
  }

  /** From now on, where any wait. */
  #bePatient(): void {
    clearTimeout(this.#patience);
    const ms = this.#patienceMs;
    if (ms === undefined || this.#waiting.length === 0) return;
    this.#patience = setTimeout(() => {
      this.#isSlow = true;
      this.#leaveRest();
    }, ms);
  }

  /** Has no room; what is kept leaves with what is open. */
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

  /** The first wait for longest. */
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
