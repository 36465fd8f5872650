import type { ServiceView } from "@unacked/contracts";
import { call } from "../wire/call.ts";
import { Signal } from "./signal.ts";

/** Services that live, and those that ended while the page was open; kept by events. */
export class LiveServices {
  readonly changed = new Signal();
  isRead = false;
  readonly #services = new Map<string, ServiceView>();

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
    this.changed.tell();
  }

  /** Rejects with CallError; what was known stays. */
  async reload(): Promise<void> {
    const { items } = await call("listServices", {});
    this.#services.clear();
    for (const service of items) this.#services.set(service.id, service);
    this.isRead = true;
    this.changed.tell();
  }
}
