const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * How long the broker has refused what it has to take. A quorum queue that has no leader for a moment refuses what is published to it, and a
 * channel that asked then may go on to refuse it for as long as it lives, when others are served long since (RabbitMQ 3.10.8, after
 * `kill -9` of the leader's node: for four minutes). So all is sent through another connection after half a second, and where that is no
 * better after one, two, four … 30 s: whoever publishes to other queues loses his connection seldom for it.
 */
export class Refusals {
  readonly #mustBeTaken: (exchange: string) => boolean;
  readonly #nowMs: () => number;
  #sinceMs: number | undefined;
  #limitMs = FIRST_MS;

  constructor(mustBeTaken: (exchange: string) => boolean, nowMs: () => number = () => performance.now()) {
    this.#mustBeTaken = mustBeTaken;
    this.#nowMs = nowMs;
  }

  /** The broker has taken, or refused, what was published to this exchange. */
  note(exchange: string, taken: boolean): void {
    if (!this.#mustBeTaken(exchange)) return;
    if (!taken) this.#sinceMs ??= this.#nowMs();
    else {
      this.#sinceMs = undefined;
      this.#limitMs = FIRST_MS;
    }
  }

  /** Undefined: there is no reason to. Once told, the next connection is given twice as long. */
  whyStartOver(): string | undefined {
    if (this.#sinceMs === undefined) return undefined;
    const refusedMs = this.#nowMs() - this.#sinceMs;
    if (refusedMs < this.#limitMs) return undefined;
    this.#sinceMs = undefined;
    this.#limitMs = Math.min(LONGEST_MS, 2 * this.#limitMs);
    return `the broker has refused all that it has to take for ${Math.round(refusedMs)} ms`;
  }
}
