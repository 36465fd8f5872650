import type { ServiceView } from "@unacked/contracts";
import { call } from "../wire/call.ts";
import { Signal } from "./signal.ts";

/**
 * Services that live, and those that ended while the page was open; kept by events. What an event says while the list is read counts more
 * than the list, which may be older: no other event need come for long.
 */
export class LiveServices {
  readonly changed = new Signal();
  isRead = false;
  readonly #services = new Map<string, ServiceView>();
  /** By events since the list was asked for last. */
  #told = new Map<string, ServiceView>();

  /** Those that live, by name. */
  living(): ServiceView[] {
    return [...this.#services.values()]
      .filter(({ endedAt }) => endedAt === null)
      .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }) || a.id.localeCompare(b.id));
  }

  get(id: string): ServiceView | undefined {
    return this.#services.get(id);
  }

  take(service: ServiceView): void {
    this.#services.set(service.id, service);
    this.#told.set(service.id, service);
    this.changed.tell();
  }

  /** Rejects with CallError; what was known stays. */
  async reload(): Promise<void> {
    const told = new Map<string, ServiceView>();
    this.#told = told;
    const { items } = await call("listServices", {});
    if (this.#told !== told) return; // it is asked for once more, since
    this.#services.clear();
    for (const service of [...items, ...told.values()]) this.#services.set(service.id, service);
    this.isRead = true;
    this.changed.tell();
  }
}
