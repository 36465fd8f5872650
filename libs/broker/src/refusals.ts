const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Tracks how long the broker has refused what it must take. A quorum queue that has no leader for a moment refuses what is published to it,
 * and a channel that asked then may go on to refuse it for as long as it lives, long after others are served (RabbitMQ 3.10.8, after `kill
 * -9` of the leader's node: for four minutes). So after half a second all is sent through another connection, and if that is no better
 * after one, two, four … 30 s: thus publishers to other queues seldom lose their connection for it. Each exchange counts by itself.
 */
export class Refusals {
  readonly #mustBeTaken: (exchange: string) => boolean;
  readonly #nowMs: () => number;
  readonly #refused = new Map<string, { sinceMs: number | undefined; limitMs: number }>();

  constructor(mustBeTaken: (exchange: string) => boolean, nowMs: () => number = () => performance.now()) {
    this.#mustBeTaken = mustBeTaken;
    this.#nowMs = nowMs;
  }

  taken(exchange: string): void {
    this.#refused.delete(exchange);
  }

  /**
   * The broker has refused what was published to this exchange.
   * @returns why all is to start over; undefined: there is no reason to. Once told, the next connection is given twice as long.
   */
  refused(exchange: string): string | undefined {
    if (!this.#mustBeTaken(exchange)) return undefined;
    const { sinceMs = this.#nowMs(), limitMs } = this.#refused.get(exchange) ?? { limitMs: FIRST_MS };
    const refusedMs = this.#nowMs() - sinceMs;
    const isOver = refusedMs >= limitMs;
    this.#refused.set(
      exchange,
      isOver ? { sinceMs: undefined, limitMs: Math.min(LONGEST_MS, 2 * limitMs) } : { sinceMs, limitMs },
    );
    return isOver
      ? `the broker has refused all that was published to ${exchange} for ${Math.round(refusedMs)} ms`
      : undefined;
  }
}
