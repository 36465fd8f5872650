import type { Session } from "@unacked/broker";
import { EXCHANGES, errorQueue, type QueueType, stateQueue } from "@unacked/contracts";

/** Declares everything that every manager needs on the broker; what is there already stays as it is. */
export function topology(queueType: QueueType): (session: Session) => Promise<void> {
  return async (session) => {
    // That of tasks is declared by what sends them (tasks/), on a connection of its own.
    for (const exchange of Object.values(EXCHANGES))
      if (exchange !== EXCHANGES.tasks) await session.declareExchange(exchange);
    await session.declare(stateQueue(queueType));
    await session.declare(errorQueue(queueType));
  };
}

const EVERY_MS = 5_000;

/**
 * Declares again and again what somebody may delete or unbind meanwhile. Services with few rights cannot do it themselves,
 * and would be unreachable until a manager connects again. What is there stays as it is. (The pools' queues: `PoolKeeper`.)
 */
export class Upkeep {
  readonly #declare: (session: Session) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;

  constructor(declare: (session: Session) => Promise<void>) {
    this.#declare = declare;
  }

  /** Begins with a new session and ends with it. */
  begin(session: Session): void {
    this.end();
    const keepUp = async () => {
      try {
        await this.#declare(session);
      } catch {
        return; // the session is lost with it, and says why; its successor begins from the start
      }
      if (!session.lost.aborted) this.#timer = setTimeout(() => void keepUp(), EVERY_MS);
    };
    this.#timer = setTimeout(() => void keepUp(), EVERY_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
