import {
  type DeathCertificate,
  type EventBatch,
  type LeftOut,
  looksLikeUuid,
  type ServiceAlive,
  type ServiceEvent,
} from "@unacked/contracts";

/** A batch as it was read: what of its events could not be understood stands beside those that could. */
export type ReceivedBatch = EventBatch & { leftOut?: readonly LeftOut[] };

/** What the state queue brings, as far as it was understood. */
export type ReceivedMessage = ReceivedBatch | DeathCertificate;

/** An event that this manager does not understand. */
export interface Unapplied {
  /** The batch holds this event alone, in the envelope in which it came. */
  batch: Omit<EventBatch, "events"> & { events: [unknown] };
  reason: string;
  /** Every observer that it names: it may be their end, so nothing is concluded about them from absence. */
  observerIds: string[];
  runId: string | undefined;
  /** A later manager may apply it. */
  isKept: boolean;
}

/** These events tell how things stood at that moment: late they would be wrong, and their service tells them again. */
const OF_THEIR_MOMENT: ReadonlySet<unknown> = new Set<ServiceEvent["kind"]>([
  "ServiceBorn",
  "ServiceAlive",
  "ServiceDied",
  "Inventory",
  "ReloadEnded",
]);

export function unappliedOf({ leftOut = [], ...batch }: ReceivedBatch): Unapplied[] {
  return leftOut.map(({ item, reason }) => {
    const { kind, runId } = Object(item) as { kind?: unknown; runId?: unknown };
    return {
      batch: { ...batch, events: [item] },
      reason,
      observerIds: observerIdsIn(item),
      runId: typeof runId === "string" && looksLikeUuid(runId) ? runId : undefined,
      isKept: !OF_THEIR_MOMENT.has(kind),
    };
  });
}

/** Finds them wherever they stand in the event. It does not recurse: the sender chose the depth. */
function observerIdsIn(event: unknown): string[] {
  const found = new Set<string>();
  const waiting = [event];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    const { observerId } = next as { observerId?: unknown };
    if (typeof observerId === "string" && looksLikeUuid(observerId)) found.add(observerId.toLowerCase());
    for (const child of Object.values(next)) if (typeof child === "object") waiting.push(child);
  }
  return [...found];
}

/** A batch that says nothing but that its service lives. */
export interface SignOfLife {
  batch: EventBatch;
  alive: ServiceAlive;
}

/** An idle service sends this every few seconds for ever. One that drains or is cordoned answers an order by it, and that is none. */
export function signOfLife(message: ReceivedMessage): SignOfLife | undefined {
  if (message.kind !== "EventBatch" || message.events.length !== 1) return undefined;
  if (message.leftOut !== undefined && message.leftOut.length > 0) return undefined;
  const [alive] = message.events;
  return alive?.kind === "ServiceAlive" && !alive.draining && alive.cordoned !== true
    ? { batch: message, alive }
    : undefined;
}
