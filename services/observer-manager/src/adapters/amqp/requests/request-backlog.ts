import type { Session } from "@unacked/broker";
import { REQUEST_QUEUE } from "@unacked/contracts";

/** What took so long has held up what is behind it. A user's bucket holds twice as much (token-bucket.ts). */
const HELD_UP_MS = 5_000;

/**
 * Of one session: how many of the next requests stood in the queue while nobody read it. That is counted when the first one has come, as another manager
 * may have read until just before (single active consumer), and again after one was held up.
 */
export class RequestBacklog {
  readonly #session: Session;
  #isToBeCounted = true;
  #stood = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Reads what has come. @param held how many have come and are not answered; those in the queue come behind them */
  async read(held: number, handle: () => Promise<void>): Promise<void> {
    if (this.#isToBeCounted) this.#stood = held + (await this.#session.inspect(REQUEST_QUEUE)).messageCount;
    const beganMs = performance.now();
    await handle();
    this.#isToBeCounted = performance.now() - beganMs >= HELD_UP_MS;
  }

  /** Takes the next one. @returns whether it stood there */
  take(): boolean {
    if (this.#stood === 0) return false;
    this.#stood -= 1;
    return true;
  }
}
