import type { ServiceEvent, ServiceId } from "@unacked/contracts";
import type { ReceivedBatch, ReceivedMessage } from "./received-message.ts";

/** A half with fewer events is written sooner together with the other. */
const FEWEST_EVENTS = 500;

/**
 * These events tell how a run fares. Each touches its service, its observer and that one's runs. The figures of a run that another service
 * had before may be others' rows, too: these are added up, in one order (domain/observers/run-figures.ts).
 */
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
 * Splits the messages into two parts, each in its order, which two transactions can apply at once: while PostgreSQL works on one, the other
 * is decided. They stay together where that would not do: there are few events, one service tells nearly all of them, one tells of more
 * than its runs, or two tell of the same observer (its end here comes before its start there) or run.
 */
export function sideBySide(messages: ReceivedMessage[]): ReceivedMessage[][] {
  const eventsOf = new Map<ServiceId, number>();
  /** The service that tells of an observer or of a run, by the id of either. */
  const tellerOf = new Map<string, ServiceId>();
  for (const message of messages) {
    if (!isOfRunsAlone(message)) return [messages];
    const { serviceId, events } = message;
    eventsOf.set(serviceId, (eventsOf.get(serviceId) ?? 0) + events.length);
    for (const event of events) {
      if (!("runId" in event)) continue;
      for (const id of [event.observerId, event.runId]) {
        const teller = tellerOf.get(id);
        if (teller === undefined) tellerOf.set(id, serviceId);
        else if (teller !== serviceId) return [messages];
      }
    }
  }
  const all = sumOf(eventsOf.values());
  const first = halfOf(eventsOf, all);
  const ofFirst = sumOf([...first].map((service) => eventsOf.get(service) ?? 0));
  if (Math.min(ofFirst, all - ofFirst) < FEWEST_EVENTS) return [messages];
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

const sumOf = (counts: Iterable<number>): number => [...counts].reduce((sum, count) => sum + count, 0);
