import { asOtherwise, type QueueDeclaration, type Session } from "@unacked/broker";
import { type QueueType, TOLD_WITHIN_MS, taskQueue, taskQueueName } from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import type { QueueCounts } from "../../../operations/pools/pool-queues.ts";
import { lookAt } from "../pools/queue-look.ts";

const DECLARE_AGAIN_MS = 5_000;
/** How often a refusing queue is logged: each task of it is claimed and refused once a second. */
const TELL_EVERY_MS = 30_000;

/** The task queues of all pools, each handled by itself. The first task of a pool declares its queue. */
export class TaskQueues {
  readonly #type: QueueType;
  readonly #log: Log;
  /** Pools whose queue was declared on this generation of the publishing connection. */
  readonly #declared = new Map<string, Promise<void>>();
  /** Pools whose queue exists as the other type. */
  readonly #otherwise = new Set<string>();
  /** When a refusal of a pool's queue was last logged, by `performance.now()`. */
  readonly #toldMs = new Map<string, number>();
  #session: Session | undefined;

  constructor(type: QueueType, log: Log) {
    this.#type = type;
    this.#log = log;
  }

  /** Begins with a new session of the publishing connection. */
  begin(session: Session): void {
    this.#session = session;
    this.#declared.clear();
  }

  /** The type of the pool's queue, once that is known. A queue keeps the type that it was made with. */
  typeOf(pool: string): QueueType {
    if (!this.#otherwise.has(pool)) return this.#type;
    return this.#type === "classic" ? "quorum" : "classic";
  }

  /** Declares the queue on a channel of its own, so that a refusal harms no other. It is tried again after some seconds. */
  ensure(pool: string): Promise<void> {
    const known = this.#declared.get(pool);
    if (known !== undefined) return known;
    const session = this.#session;
    if (session === undefined) return Promise.reject(new Error("not connected"));
    const declared = this.#declare(session, pool);
    this.#declared.set(pool, declared);
    declared.catch((error: unknown) => {
      this.#log.warn({ pool, err: error }, "the queue of a pool's tasks is not available, trying again");
      setTimeout(() => this.#forget(pool, declared), DECLARE_AGAIN_MS).unref();
    });
    return declared;
  }

  /**
   * A task of this pool came back. Nothing is sent to its queue until its consumers have been told that somebody deleted it (TOLD_WITHIN_MS).
   * @param declared by which it was sent; nothing changes where the queue was declared again since
   */
  returned(pool: string, declared: Promise<void>): void {
    if (this.#declared.get(pool) !== declared) return;
    const untold = Promise.reject(new Error("it is not bound, or somebody deleted it"));
    untold.catch(() => setTimeout(() => this.#forget(pool, untold), TOLD_WITHIN_MS).unref());
    this.#declared.set(pool, untold);
  }

  tellRefused(pool: string, error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - (this.#toldMs.get(pool) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    this.#toldMs.set(pool, nowMs);
    this.#log.warn(
      { event: "tasks-refused", pool, err: error },
      "tasks could not be sent: their queue accepts none; trying again",
    );
  }

  look(pool: string): Promise<QueueCounts | null> {
    return lookAt(this.#session, taskQueueName(pool));
  }

  async #declare(session: Session, pool: string): Promise<void> {
    const queue = taskQueue(pool, this.#type);
    try {
      await declareAside(session, queue);
      this.#otherwise.delete(pool);
    } catch (error) {
      // If the broker refuses both types, the first refusal is reported.
      await declareAside(session, asOtherwise(queue)).catch(() => {
        throw error;
      });
      this.#otherwise.add(pool);
    }
  }

  #forget(pool: string, declared: Promise<void>): void {
    if (this.#declared.get(pool) === declared) this.#declared.delete(pool);
  }
}

async function declareAside(session: Session, queue: QueueDeclaration): Promise<void> {
  const channel = await session.openSideChannel();
  try {
    await channel.declareQueue(queue);
  } finally {
    await channel.close();
  }
}
