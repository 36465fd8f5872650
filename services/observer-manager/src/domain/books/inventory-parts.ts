import type { Inventory, RunId } from "@unacked/contracts";
import type { ReceivedMessage } from "./received-message.ts";

/** Limits the inventories whose last part does not come: their service has ended, or another manager has read it. */
const OPEN_AT_MOST = 100;

/** The parts of inventories that have arrived so far; it outlives a batch, not the manager. */
export class InventoryParts {
  /** The inventory of which a part came last stands last. */
  readonly #open = new Map<string, { parts: Set<number>; runIds: Set<RunId> }>();

  /** The ids of all listed runs once the last part has come, or null when a part was not seen (by this manager). */
  collect({ inventoryId, part, parts, runs }: Inventory): Set<RunId> | null {
    const entry = this.#open.get(inventoryId) ?? { parts: new Set(), runIds: new Set() };
    this.#open.delete(inventoryId);
    this.#open.set(inventoryId, entry);
    entry.parts.add(part);
    for (const run of runs) entry.runIds.add(run.runId);
    if (part < parts) return null;
    if (this.#open.size > OPEN_AT_MOST) this.#open.delete(this.#open.keys().next().value as string);
    return entry.parts.size === parts ? entry.runIds : null;
  }

  /** Only a rolled back transaction brings the last part again, and the ids of 10,000 runs take a megabyte. */
  committed(messages: readonly ReceivedMessage[]): void {
    for (const event of messages.flatMap((message) => (message.kind === "EventBatch" ? message.events : [])))
      if (event.kind === "Inventory" && event.part === event.parts) this.#open.delete(event.inventoryId);
  }
}
