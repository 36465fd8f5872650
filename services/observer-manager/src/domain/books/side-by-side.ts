import type { ServiceEvent, ServiceId } from "@unacked/contracts";
import type { ReceivedBatch, ReceivedMessage } from "./received-message.ts";

/** Fewer are written sooner by one transaction than by two. */
const FEWEST_EVENTS = 1_000;

/** How what runs fares. Each touches its observer, its run and what is kept of its service, and nothing that others touch, too. */
const OF_ITS_RUN_ALONE: ReadonlySet<ServiceEvent["kind"]> = new Set<ServiceEvent["kind"]>([
  "RunStarted",
  "RunRetrying",
  "RunUpdated",
  "RunStopped",
  "RunFailed",
  "RunCompleted",
  "CheckpointSaved",
  "ServiceAlive",
]);

/**
 * The messages in two parts, each in its order, which two transactions can apply at once: while PostgreSQL works on one, the other is decided. All in
 * one where that would not do: there are few events, one service tells most of them, one tells of more than its runs, or two tell of the same observer
 * (its end here comes before its start there).
 */
export function sideBySide(messages: ReceivedMessage[]): ReceivedMessage[][] {
  const eventsOf = new Map<ServiceId, number>();
  const tellerOf = new Map<string, ServiceId>();
  for (const message of messages) {
    if (!isOfRunsAlone(message)) return [messages];
    const { serviceId, events } = message;
    eventsOf.set(serviceId, (eventsOf.get(serviceId) ?? 0) + events.length);
    for (const event of events) {
      if (!("observerId" in event)) continue;
      const teller = tellerOf.get(event.observerId);
      if (teller === undefined) tellerOf.set(event.observerId, serviceId);
      else if (teller !== serviceId) return [messages];
    }
  }
  const all = [...eventsOf.values()].reduce((sum, count) => sum + count, 0);
  const first = halfOf(eventsOf, all);
  if (all < FEWEST_EVENTS || first.size === eventsOf.size) return [messages];
  return [
    messages.filter(({ serviceId }) => first.has(serviceId)),
    messages.filter(({ serviceId }) => !first.has(serviceId)),
  ];
}

function isOfRunsAlone(message: ReceivedMessage): message is ReceivedBatch {
  if (message.kind !== "EventBatch" || (message.leftOut ?? []).length > 0) return false;
  return message.events.every(({ kind }) => OF_ITS_RUN_ALONE.has(kind));
}

/** Services that tell about half of all, those with most first. */
function halfOf(eventsOf: ReadonlyMap<ServiceId, number>, all: number): Set<ServiceId> {
  const half = new Set<ServiceId>();
  let sum = 0;
  for (const [service, count] of [...eventsOf].sort(([, a], [, b]) => b - a)) {
    if (half.size > 0 && sum + count > all / 2) continue;
    half.add(service);
    sum += count;
  }
  return half;
}
