import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "@unacked/broker";
import { type QueueDeclaration, TOLD_WITHIN_MS } from "@unacked/contracts";

const LOOK_AGAIN_MS = 500;

/** A queue that services share, and this one consumes from. */
export class ConsumedQueue {
  readonly #queue: QueueDeclaration;
  readonly #isOurs: boolean;
  #wasThere = false;

  /** @param isOurs false: it is the manager's to declare, and waited for. (Who may declare a queue may delete it.) */
  constructor(queue: QueueDeclaration, isOurs: boolean) {
    this.#queue = queue;
    this.#isOurs = isOurs;
  }

  get name(): string {
    return this.#queue.name;
  }

  /**
   * Resolves when it is there. One that was there before, and is gone, was deleted: it is declared again when all who consumed from it have
   * been told (TOLD_WITHIN_MS). Rejects when the session is lost.
   *
   * @param onMissing called if it has to be waited for
   */
  async untilThere(session: Session, onMissing?: (queue: string) => void): Promise<void> {
    if (!(await this.#find(session))) {
      onMissing?.(this.name);
      const missingSinceMs = performance.now();
      do {
        await sleep(LOOK_AGAIN_MS);
        if (performance.now() - missingSinceMs > TOLD_WITHIN_MS) this.#wasThere = false;
      } while (!(await this.#find(session)));
    }
    this.#wasThere = true;
  }

  /** An exchange that somebody deletes takes its bindings along. Never makes the queue. @returns false if it is not there */
  async bind(session: Session): Promise<boolean> {
    for (const { exchange } of this.#queue.bindings) await session.declareExchange(exchange);
    return session.bindAgain(this.#queue);
  }

  /** False where it is not there, and is not to be declared, or not yet. */
  async #find(session: Session): Promise<boolean> {
    if (!this.#isOurs) return session.isThere(this.name);
    if (this.#wasThere) return this.bind(session);
    await session.declare(this.#queue);
    return true;
  }
}
