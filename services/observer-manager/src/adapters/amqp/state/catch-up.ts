import type { Session } from "@unacked/broker";
import { STATE_QUEUE } from "@unacked/contracts";

const EVERY_MS = 500;

/**
 * Watches whether the manager has caught up with what the services said. It is ready once it has seen the state queue read
 * empty; silence of services counts only while it stays so. To a standby manager this proves nothing, as what the active one
 * was given and has not applied is not counted. Conclusions need a marker.
 */
export class CatchUp {
  readonly #isIdle: () => boolean;
  #depth: number | null = null;
  #consumers: number | null = null;
  #hasOnceCaughtUp = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param isIdle nothing that was delivered to this manager waits to be applied */
  constructor(isIdle: () => boolean) {
    this.#isIdle = isIdle;
  }

  /** Begins with a new session and ends with it. */
  begin(session: Session): void {
    this.end();
    const look = async () => {
      try {
        const { messageCount, consumerCount } = await session.inspect(STATE_QUEUE);
        this.#depth = messageCount;
        this.#consumers = consumerCount;
        if (messageCount === 0 && this.#isIdle()) this.#hasOnceCaughtUp = true;
      } catch {
        this.#depth = this.#consumers = null; // the session is lost, and the next one looks again
      }
      if (!session.lost.aborted) this.#timer = setTimeout(() => void look(), this.#hasOnceCaughtUp ? EVERY_MS : 50);
    };
    void look();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#depth = this.#consumers = null;
  }

  /** Messages in the state queue that wait for a consumer; null while the broker cannot be asked. */
  get depth(): number | null {
    return this.#depth;
  }

  /** The consumers of the state queue, this manager among them; null while the broker cannot be asked. */
  get consumers(): number | null {
    return this.#consumers;
  }

  get hasOnceCaughtUp(): boolean {
    return this.#hasOnceCaughtUp;
  }

  get isCaughtUp(): boolean {
    return this.#hasOnceCaughtUp && this.#depth === 0 && this.#isIdle();
  }
}
