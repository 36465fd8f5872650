import { setTimeout as delay } from "node:timers/promises";

/**
 * The most events of a portion. A database at ease writes them in well under a second, and one that is ten times slower
 * before its statement timeout.
 */
const MOST_EVENTS = 10_000;
const RETRY_MS = 250;
/** After failing for this long, a manager lets another one try: a state queue has a single active consumer. */
const GIVE_UP_MS = 5_000;

export interface PortionHooks<Message> {
  /**
   * Applies a portion in one transaction, or two at once, and acks it. If it rejects, some messages may have been applied, and all
   * can be given again.
   */
  apply(portion: readonly Message[]): Promise<void>;
  failed(error: unknown, portion: readonly Message[]): void;
  /** Lets another manager try. */
  giveUp(): void;
}

/**
 * Decides how much of what waits is taken together: as much as there is, up to a bound of events. A portion that failed is tried again by
 * halves, as it may have been too much for a statement's time: the same again would fail again, here and at the next manager. Each success
 * doubles the bound. One message is always taken whole.
 */
export class Portions {
  #most = MOST_EVENTS;

  /** Applies the messages in order, until all are applied or the session is lost: what is left comes again then. */
  async apply<Message extends { readonly events: number }>(
    messages: readonly Message[],
    { apply, failed, giveUp }: PortionHooks<Message>,
    lost: AbortSignal,
  ): Promise<void> {
    let rest = messages;
    let failedAtMs: number | undefined;
    while (rest.length > 0 && !lost.aborted) {
      const portion = rest.slice(0, this.lengthOf(rest.map(({ events }) => events)));
      try {
        await apply(portion);
        this.succeeded();
        failedAtMs = undefined;
        rest = rest.slice(portion.length);
      } catch (error) {
        this.failed(portion.reduce((sum, { events }) => sum + events, 0));
        failed(error, portion);
        failedAtMs ??= performance.now();
        if (performance.now() - failedAtMs > GIVE_UP_MS) giveUp();
        await delay(RETRY_MS);
      }
    }
  }

  /** @param events of each message. @returns how many of the first messages */
  lengthOf(events: readonly number[]): number {
    let sum = 0;
    const over = events.findIndex((count) => {
      sum += count;
      return sum > this.#most;
    });
    return over < 0 ? events.length : Math.max(1, over);
  }

  succeeded(): void {
    this.#most = Math.min(MOST_EVENTS, 2 * this.#most);
  }

  /** @param events that were tried together */
  failed(events: number): void {
    this.#most = Math.max(1, Math.ceil(Math.min(this.#most, events) / 2));
  }
}
