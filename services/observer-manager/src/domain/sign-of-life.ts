import type { EventBatch, ServiceAlive, StateMessage } from "@unacked/contracts";

/** A batch that says nothing but that its service lives. */
export interface SignOfLife {
  batch: EventBatch;
  alive: ServiceAlive;
}

/** What an idle service sends, every few seconds for ever. One that drains answers an order, and is none. */
export function signOfLife(message: StateMessage): SignOfLife | undefined {
  if (message.kind !== "EventBatch" || message.events.length !== 1) return undefined;
  const [alive] = message.events;
  return alive?.kind === "ServiceAlive" && !alive.draining ? { batch: message, alive } : undefined;
}
