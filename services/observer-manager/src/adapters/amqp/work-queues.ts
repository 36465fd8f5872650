import type { Session } from "@unacked/broker";
import { type QueueType, workQueue } from "@unacked/contracts";

/** The first that needs a pool's work queue makes it, so that an observer can wait for the first service of its pool. */
export class WorkQueues {
  readonly #session: () => Session | undefined;
  readonly #type: QueueType;
  readonly #wanted = new Set<string>();
  /** Pools whose queue was declared, or is being so, in which generation: thousands of starts ask for the same at once. */
  #declared = { generation: 0, pools: new Map<string, Promise<void>>() };

  constructor(session: () => Session | undefined, type: QueueType) {
    this.#session = session;
    this.#type = type;
  }

  /** Rejects while the broker is away; `declareAgain` makes up for it. */
  async ensure(pool: string): Promise<void> {
    this.#wanted.add(pool);
    const session = this.#session();
    if (!session) throw new Error("the broker session that declares work queues is down");
    if (session.generation !== this.#declared.generation)
      this.#declared = { generation: session.generation, pools: new Map() };
    const { pools } = this.#declared;
    const known = pools.get(pool);
    if (known) return known;
    const declaring = session.declare(workQueue(pool, this.#type));
    pools.set(pool, declaring);
    declaring.catch(() => {
      if (pools.get(pool) === declaring) pools.delete(pool);
    });
    return declaring;
  }

  /** Every one that was ever asked for, once more: somebody may have deleted it. Rejects while the broker is away. */
  async declareAgain(): Promise<void> {
    this.#declared.pools.clear();
    for (const pool of this.#wanted) await this.ensure(pool);
  }

  /** A start of this pool came back: somebody deleted the queue. It is made anew with the next one. */
  forget(pool: string): void {
    this.#declared.pools.delete(pool);
  }
}
