import type { Session } from "@unacked/broker";

const LOOK_MS = 2_000;
/** No living consumer leaves a message lying for this long. */
const FORGOTTEN_MS = 20_000;

/**
 * Ends the session when a queue has messages, gives us none, and nobody else takes any. A quorum queue whose nodes lost each other may
 * forget a consumer for as long as its connection lives, and may forget all of them
 * (https://github.com/rabbitmq/rabbitmq-server/pull/14589, https://github.com/rabbitmq/rabbitmq-server/issues/17317). If another
 * manager is the active consumer and just as stuck, a new session of this one does no harm.
 */
export class ForgottenConsumer {
  readonly #queue: string;
  readonly #isIdle: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #depth = 0;
  #sinceMs = 0;

  /** @param isIdle nothing that was delivered waits to be worked on */
  constructor(queue: string, isIdle: () => boolean) {
    this.#queue = queue;
    this.#isIdle = isIdle;
  }

  /** Begins with a new session, and ends with it. */
  begin(session: Session): void {
    this.end();
    session.lost.addEventListener("abort", () => this.end());
    this.#depth = 0;
    const look = async (): Promise<void> => {
      try {
        this.#note((await session.inspect(this.#queue)).messageCount);
      } catch {
        return; // the session is lost, and the next one looks again
      }
      if (this.#depth > 0 && performance.now() - this.#sinceMs >= FORGOTTEN_MS)
        session.end(`${this.#queue} has ${this.#depth} messages and gives nobody any: a partition may have made it forget`);
      if (!session.lost.aborted) this.#timer = setTimeout(() => void look(), LOOK_MS);
    };
    this.#timer = setTimeout(() => void look(), LOOK_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** A message was delivered. */
  delivered(): void {
    this.#depth = 0;
  }

  #note(depth: number): void {
    const isTaken = depth < this.#depth || !this.#isIdle();
    if (depth === 0 || isTaken || this.#depth === 0) this.#sinceMs = performance.now();
    this.#depth = depth;
  }
}
