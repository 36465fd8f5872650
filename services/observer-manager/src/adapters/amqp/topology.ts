import type { Session } from "@unacked/broker";
import { EXCHANGES, type ExchangeDeclaration, errorQueue, type QueueType, stateQueue } from "@unacked/contracts";

/** Exchanges that their users declare (tasks/, requests/, time/), on connections of their own. */
const DECLARED_ELSEWHERE: ExchangeDeclaration[] = [
  EXCHANGES.tasks,
  EXCHANGES.requests,
  EXCHANGES.requestReplies,
  EXCHANGES.timers,
];

/** Declares everything that every manager needs on the broker. What exists already stays as it is. */
export function topology(queueType: QueueType): (session: Session) => Promise<void> {
  return async (session) => {
    for (const exchange of Object.values(EXCHANGES))
      if (!DECLARED_ELSEWHERE.includes(exchange)) await session.declareExchange(exchange);
    await session.declare(stateQueue(queueType));
    await session.declare(errorQueue(queueType));
  };
}

const EVERY_MS = 5_000;

/**
 * Declares again and again what somebody may delete or unbind meanwhile. Services with few rights cannot do it themselves,
 * and would be unreachable until a manager connects again. What exists stays as it is. (For the pools' queues: `QueueCare`.)
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
        return; // the session is lost and says why; the next one begins from the start
      }
      if (!session.lost.aborted) this.#timer = setTimeout(() => void keepUp(), EVERY_MS);
    };
    this.#timer = setTimeout(() => void keepUp(), EVERY_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
