import type { Warning } from "@unacked/contracts";
import type { Facts } from "./facts.ts";
import { brokerAway, brokerIsBlocking, stateQueueBehind, takenBackByFlaps } from "./warnings/broker.ts";
import { booksBlocked, longSnapshot } from "./warnings/database.ts";
import { observersRestart, observersSilent } from "./warnings/observer.ts";
import {
  fragile,
  isFragile,
  noService,
  poolUneven,
  poolWarnings,
  queueRefused,
  queueUnwanted,
  typeNotServed,
} from "./warnings/pool.ts";
import { brokenFiles, lossOf, sameNames, serviceGone, slotsDie, suspect } from "./warnings/service.ts";
import { timersUnheard } from "./warnings/timer.ts";

/** What is wrong now and what to do about it, the worst first. */
export function warningsOf(facts: Facts): Warning[] {
  return [
    ...brokerAway(facts),
    ...brokerIsBlocking(facts),
    ...facts.booksBlockers.map(booksBlocked),
    ...facts.queueTroubles.map((trouble) => queueRefused(trouble, facts)),
    ...facts.services.flatMap(lossOf),
    ...brokenFiles(facts),
    ...facts.services.flatMap(slotsDie),
    ...noService(facts),
    ...facts.pools.flatMap(poolWarnings),
    ...facts.unservedTypes.map(typeNotServed),
    ...facts.silentObservers.map(observersSilent),
    ...facts.restartedObservers.map(observersRestart),
    ...facts.unevenPools.map(poolUneven),
    // While the broker is away, or blocks what is published, nobody is heard, and nothing is wrong with them.
    ...facts.services
      .filter(({ state }) => state === "Suspect" && facts.stateQueueLag !== null && !facts.brokerBlocks)
      .map(suspect),
    ...facts.goneServices.map(serviceGone),
    ...sameNames(facts),
    ...stateQueueBehind(facts),
    ...facts.longSnapshots.map(longSnapshot),
    ...facts.unheardTimers.map(timersUnheard),
    ...facts.unwantedQueues.map(queueUnwanted),
    ...takenBackByFlaps(facts),
    ...facts.pools.filter(isFragile).map(fragile),
  ];
}
