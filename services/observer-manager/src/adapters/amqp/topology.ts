import type { Session } from "@unacked/broker";
import { EXCHANGES, errorQueue, stateQueue } from "@unacked/contracts";

/** Everything that every manager needs on the broker; declaring what is there already changes nothing. */
export async function declareTopology(session: Session): Promise<void> {
  for (const exchange of Object.values(EXCHANGES)) await session.declareExchange(exchange);
  await session.declare(stateQueue);
  await session.declare(errorQueue);
}
