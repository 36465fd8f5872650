/** Half of what RabbitMQ takes for a quorum queue that confirms nothing before it reads no more from who publishes (`quorum_commands_soft_limit`). */
const MIN_OPEN = 16;
const MAX_OPEN = 4_000;

/** It was not sent, as one before it could not be. */
export class NotTried extends Error {
  override readonly name = "NotTried";

  constructor(cause: unknown) {
    super("Nothing was sent: the pool's queue did not take what was sent before", { cause });
  }
}

interface Waiting {
  sinceMs: number;
  resolve(): void;
  reject(error: NotTried): void;
}

/** The windows of all pools that have something on its way. */
export class PoolWindows {
  readonly #windows = new Map<string, PoolWindow>();
  readonly #longestMs: number;

  /** @param longestMs whatever has waited for longer is not tried */
  constructor(longestMs = Number.POSITIVE_INFINITY) {
    this.#longestMs = longestMs;
  }

  async through(pool: string, send: () => Promise<void>): Promise<void> {
    const window = this.#windows.get(pool) ?? new PoolWindow(this.#longestMs);
    this.#windows.set(pool, window);
    try {
      await window.through(send);
    } finally {
      if (window.isIdle && this.#windows.get(pool) === window) this.#windows.delete(pool);
    }
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
  readonly #longestMs: number;

  constructor(longestMs = Number.POSITIVE_INFINITY) {
    this.#longestMs = longestMs;
  }

  get isIdle(): boolean {
    return this.#open === 0 && this.#waiting.length === 0;
  }

  /** Rejects as `send` does, or with NotTried. */
  async through(send: () => Promise<void>): Promise<void> {
    if (this.#open < this.#size) this.#open += 1;
    else await new Promise<void>((resolve, reject) => this.#waiting.push({ sinceMs: performance.now(), resolve, reject })); // who ends hands his place on
    try {
      await send();
      this.#taken();
    } catch (error) {
      this.#refused(error);
      throw error;
    }
  }

  #taken(): void {
    this.#open -= 1;
    this.#size = Math.min(MAX_OPEN, this.#size + 1);
    this.#leaveLate();
    const next = this.#waiting.splice(0, this.#size - this.#open);
    this.#open += next.length;
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
    this.#size = MIN_OPEN;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(new NotTried(error));
  }
}
