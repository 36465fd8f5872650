import { MAX_BULK, type ObserverId, type ObserverView } from "@unacked/contracts";
import { contentOf } from "../observers/new-observer.ts";
import type { DueCommand } from "./command-store.ts";

export type Start = NonNullable<Extract<DueCommand, { kind: "start" }>["start"]>;

/** The largest batch. */
const MAX_KEPT = MAX_BULK;

/**
 * What this manager created a moment ago, so that ten thousand starts need not be read back from the books to be sent.
 * Each is given once: whatever is claimed again, after a crash or by another manager, is read from the books, where it shows
 * whether the start is still wanted. Bounded; what is forgotten is read, too.
 */
export class FreshStarts {
  readonly #starts = new Map<string, Start>();

  remember(observer: ObserverView): void {
    const { revision, specVersion, createdAt } = observer;
    const observerId = observer.id as ObserverId;
    const oldest = this.#starts.size < MAX_KEPT ? undefined : this.#starts.keys().next().value;
    if (oldest !== undefined) this.#starts.delete(oldest);
    this.#starts.set(observerId, { observerId, revision, ...contentOf(observer), specVersion, createdAt });
  }

  /** Nothing is due: what is left was sent by another manager. */
  forgetAll(): void {
    this.#starts.clear();
  }

  take(observerId: ObserverId, revision: number): Start | undefined {
    const start = this.#starts.get(observerId);
    this.#starts.delete(observerId);
    return start?.revision === revision ? start : undefined;
  }
}
