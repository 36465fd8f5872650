import type { Session } from "@unacked/broker";
import { EXCHANGES, errorQueue, type QueueType, stateQueue } from "@unacked/contracts";

/** Declares everything that every manager needs on the broker; what is there already stays as it is. */
export function topology(queueType: QueueType): (session: Session) => Promise<void> {
  return async (session) => {
    for (const exchange of Object.values(EXCHANGES)) await session.declareExchange(exchange);
    await session.declare(stateQueue(queueType));
    await session.declare(errorQueue(queueType));
  };
}
