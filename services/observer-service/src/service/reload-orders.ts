import { MAX_BROKEN_FILES, MAX_RELOAD_REASON, type ReloadEnded } from "@unacked/contracts";
import { sendableText } from "../error-text.ts";
import type { Reload } from "../keeper/runs/handlers.ts";

export interface ReloadOrderParts {
  /** Loads the folder again. Undefined if this process ends. */
  reload(): Promise<Reload | undefined>;
  /** Nobody hears it without a session: then the order comes again in the next. */
  tell(event: ReloadEnded): void;
}

/**
 * Receives the manager's orders to load the folder again, each repeated until its answer is heard. Guarantees: one load for each id that
 * differs from the order before, begun after it came, and the same answer however often it is asked for. A crash forgets the order: the
 * next process is another boot, and loads the folder as it is.
 */
export class ReloadOrders {
  readonly #parts: ReloadOrderParts;
  #last: { id: string; answer: ReloadEnded | undefined } | undefined;

  constructor(parts: ReloadOrderParts) {
    this.#parts = parts;
  }

  async take(reloadId: string): Promise<void> {
    if (this.#last?.id === reloadId) {
      if (this.#last.answer !== undefined) this.#parts.tell(this.#last.answer);
      return;
    }
    const order = { id: reloadId, answer: undefined as ReloadEnded | undefined };
    this.#last = order;
    const reload = await this.#parts.reload();
    if (reload === undefined) return;
    order.answer = reloadEnded(reloadId, reload);
    this.#parts.tell(order.answer);
  }
}

function reloadEnded(reloadId: string, reload: Reload): ReloadEnded {
  const about = { kind: "ReloadEnded", at: Date.now(), reloadId } as const;
  switch (reload.kind) {
    case "unchanged":
      return { ...about, outcome: "unchanged" };
    case "loaded": {
      const { changed, added, gone } = reload;
      return { ...about, outcome: "loaded", changed, added, gone };
    }
    case "refused": {
      const why = sendableText(reload.why, MAX_RELOAD_REASON);
      return { ...about, outcome: "refused", why, brokenFiles: reload.broken.slice(0, MAX_BROKEN_FILES) };
    }
    default:
      return reload satisfies never;
  }
}
