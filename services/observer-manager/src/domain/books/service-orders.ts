import type { ReloadEnded } from "@unacked/contracts";
import type { Books } from "./books.ts";
import { type DrainState, ORDER_OF, type ServiceBook } from "./service-book.ts";

const isWaited = (drain: DrainState): drain is keyof typeof ORDER_OF => drain in ORDER_OF;

/** What was sent to the connection before is lost with it. */
export function orderAgain(books: Books, { id: serviceId, generation, drain, reloadId, reloadAnswer }: ServiceBook): void {
  if (isWaited(drain)) books.want({ kind: ORDER_OF[drain], serviceId, generation });
  if (reloadId !== null && reloadAnswer === null) books.want({ kind: "reload", serviceId, generation, reloadId });
}

/** Only the load that was asked for last is waited for: one that was asked for before it has ended by then. */
export function noteReload(books: Books, service: ServiceBook, { kind: _kind, reloadId, ...answer }: ReloadEnded): void {
  if (reloadId !== service.reloadId) return;
  service.reloadAnswer = answer;
  books.changedServices.add(service);
  books.forget({ kind: "reload", serviceId: service.id, generation: service.generation });
}

/**
 * What a service says of its intake. An order that asked for this is answered, and not said again. One that is to take work again, and has
 * not heard so yet, says what it said before: that is no news.
 */
export function noteStanding(books: Books, service: ServiceBook, { draining, cordoned }: Standing): void {
  const told = draining ? "begun" : cordoned ? "cordoned" : "none";
  const { id: serviceId, generation, drain } = service;
  // A service of an older version never takes a drain back.
  const isNews = service.features.includes("balance") || !(told === "none" && drain === "begun");
  if (told === drain || !isNews || !ANSWERED_BY[told].includes(drain)) return;
  service.drain = told;
  if (isWaited(drain)) books.forget({ kind: ORDER_OF[drain], serviceId, generation });
}

interface Standing {
  draining: boolean;
  cordoned?: boolean | undefined;
}

/** For each thing that a service may say, the states of the books to which it is news. */
const ANSWERED_BY: Record<"none" | "cordoned" | "begun", readonly DrainState[]> = {
  // It may be by our order or not: what a service says later is newer than what it said before.
  none: ["lift-asked", "cordoned", "begun"],
  cordoned: ["none", "cordon-asked"],
  begun: ["none", "asked", "cordon-asked", "cordoned"],
};

export function askInventory(books: Books, service: ServiceBook): void {
  books.want({ kind: "report-inventory", serviceId: service.id, generation: service.generation });
}
