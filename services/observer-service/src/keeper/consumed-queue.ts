import { setTimeout as sleep } from "node:timers/promises";
import { isNoQueue, type LossReason, type Session } from "@unacked/broker";
import { type QueueDeclaration, TOLD_WITHIN_MS } from "@unacked/contracts";

const LOOK_AGAIN_MS = 500;

/** Called if a queue has to be waited for, with the broker's words, and again when these change. */
export type OnMissing = (queue: string, why: LossReason) => void;

/** A queue that services share, and this one consumes from, or publishes to. */
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
   * Resolves when the queue exists. If it existed before and is gone, it was deleted: it is declared again when all who consumed from it
   * have been told (TOLD_WITHIN_MS). If it is out of reach (its node is down), or refused, it is waited for. Rejects when the session is
   * lost.
   */
  async untilThere(session: Session, onMissing: OnMissing): Promise<void> {
    let goneSinceMs: number | undefined;
    let told: string | undefined;
    for (;;) {
      const why = await this.#find(session);
      if (why === undefined) break;
      if (why.detail !== told) onMissing(this.name, why);
      told = why.detail;
      goneSinceMs = isNoQueue(why) ? (goneSinceMs ?? performance.now()) : undefined;
      await sleep(LOOK_AGAIN_MS);
      if (goneSinceMs !== undefined && performance.now() - goneSinceMs > TOLD_WITHIN_MS) this.#wasThere = false;
    }
    this.#wasThere = true;
  }

  /**
   * Binds the queue again, as an exchange that somebody deletes takes its bindings along. Never creates the queue. @returns
   * why it is refused
   */
  async bind(session: Session): Promise<LossReason | undefined> {
    for (const { exchange } of this.#queue.bindings) await session.declareExchange(exchange);
    return session.bindAgain(this.#queue);
  }

  /** @returns why not: it is not there, and is not to be declared, or not yet; or it is out of reach, or refused */
  async #find(session: Session): Promise<LossReason | undefined> {
    if (!this.#isOurs) return session.lookFor(this.name);
    if (this.#wasThere) return this.bind(session);
    return session.tryToDeclare(this.#queue);
  }
}
