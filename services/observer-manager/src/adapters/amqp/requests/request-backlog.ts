import type { Session } from "@unacked/broker";
import { REQUEST_QUEUE } from "@unacked/contracts";

/**
 * Of one session: how many of the next requests stood in the queue while nobody read it. That is counted once, when the first one has come, as another
 * manager may have read until just before (single active consumer). A manager that cannot decide gives its session up; a shorter halt is in what a user's
 * bucket gathers meanwhile (token-bucket.ts).
 */
export class RequestBacklog {
  readonly #session: Session;
  readonly #prefetch: number;
  #isCounted = false;
  #stood = 0;

  constructor(session: Session, prefetch: number) {
    this.#session = session;
    this.#prefetch = prefetch;
  }

  /**
   * Before the first is read. The broker does not count what it has handed out: as many as it may where others still wait.
   * @param held how many have come and are not answered, by now
   */
  async count(held: () => number): Promise<void> {
    if (this.#isCounted) return;
    const { messageCount } = await this.#session.inspect(REQUEST_QUEUE);
    this.#stood = messageCount > 0 ? this.#prefetch + messageCount : held();
    this.#isCounted = true;
  }

  /** Takes the next one. @returns whether it stood there */
  take(): boolean {
    if (this.#stood === 0) return false;
    this.#stood -= 1;
    return true;
  }
}
