import { RefusedError, type Session } from "@unacked/broker";
import { type QueueType, TOLD_WITHIN_MS } from "@unacked/contracts";
import type { QueueTrouble } from "../../../domain/overview/facts.ts";
import type { Log } from "../../../operations/log.ts";
import type { QueueCounts, Removal } from "../../../operations/pools/pool-queues.ts";
import { PoolChannel } from "./pool-channel.ts";
import { PoolDeclaration } from "./pool-declaration.ts";
import { PoolTrouble, type QueueRefused, type Trouble } from "./pool-trouble.ts";
import { isDeleted, isInUse } from "./queue-refusals.ts";

/** How long an answer is waited for. The question stays open after that, and nothing else is asked meanwhile. */
const ANSWER_WITHIN_MS = 5_000;

const NO_ANSWER: Trouble = {
  detail: `the broker does not answer what is asked of this queue within ${ANSWER_WITHIN_MS} ms`,
  remedy: "Look at the node that leads or has this queue; it is tried again.",
};

const DELETED: Trouble = {
  detail: "it was deleted",
  remedy: "It is declared again in a moment, when its consumers have been told.",
};
const UNKNOWN_REMEDY = "Look at the broker's log; it is tried again.";

export interface PoolQueueParts {
  pool: string;
  type: QueueType;
  /** False means that its channel is closed after each use, since there are so many. */
  keepsChannel: () => boolean;
  log: Log;
}

/**
 * The work queue of one pool, on a channel of its own: a refusal or a missing answer here harms no other pool and not the
 * session. After a refusal it is tried again after 1 s, then 2, 4 … 30 s; until then every caller is told why at once.
 */
export class PoolQueue {
  readonly #channel: PoolChannel;
  readonly #declaration: PoolDeclaration;
  readonly #trouble: PoolTrouble;
  #declaredIn: number | undefined;
  #wasThere = false;
  #goneSinceMs: number | undefined;
  #declaring: Promise<void> | undefined;

  constructor({ pool, type, keepsChannel, log }: PoolQueueParts) {
    this.#channel = new PoolChannel(keepsChannel);
    this.#declaration = new PoolDeclaration({ pool, type, channel: this.#channel, log });
    this.#trouble = new PoolTrouble(pool, log);
  }

  /** What is wrong with it, for the warnings. */
  get trouble(): QueueTrouble | undefined {
    return this.#trouble.shown;
  }

  /** The broker has taken a start into the queue, or refused one. */
  told(outcome: "taken" | "nacked"): void {
    this.#trouble.told(outcome);
  }

  /** Declares the queue unless that was done on this connection. Rejects with QueueRefused, or when the session is lost. */
  async ensure(session: Session): Promise<void> {
    if (this.#declaredIn !== session.generation) await this.declare(session);
  }

  /** Declares the queue in any case. Rejects like `ensure`. */
  async declare(session: Session): Promise<void> {
    const { refusal, isResting } = this.#trouble;
    if (refusal !== undefined && (this.#declaring !== undefined || isResting)) throw refusal;
    this.#declaring ??= this.#declare(session).finally(() => {
      this.#declaring = undefined;
    });
    await this.#answered(this.#declaring);
  }

  /** Somebody deleted the queue. It is declared again when it is next needed. */
  forget(): void {
    this.#declaredIn = undefined;
  }

  /** The type that it has. */
  get type(): QueueType {
    return this.#declaration.type;
  }

  /**
   * The count of messages that nobody holds, and of consumers; `gone` if somebody has deleted it. Rejects like `ensure`, also while its
   * node is down.
   */
  look(session: Session): Promise<QueueCounts | "gone"> {
    return this.#answered(
      this.#channel
        .use(session, async (channel) => {
          const { messageCount, consumerCount } = await channel.inspect(this.#declaration.queue);
          return { ready: messageCount, consumers: consumerCount };
        })
        .catch((error: unknown) => {
          this.forget();
          if (isDeleted(error)) return "gone";
          throw this.#refused(error);
        }),
    );
  }

  /**
   * Deletes the queue unless it has a consumer or, with `ifEmpty`, messages. For a classic queue the broker decides that in
   * one step. For a quorum queue it cannot, so a look comes just before: a service that comes in between connects again, a
   * start is sent again.
   */
  async remove(session: Session, { ifEmpty }: { ifEmpty: boolean }): Promise<Removal> {
    const { queue } = this.#declaration;
    const seen = await this.look(session);
    if (seen === "gone") return { kind: "gone" };
    if (seen.consumers > 0 || (ifEmpty && seen.ready > 0)) return { kind: "in-use" };
    // Finds out the queue's type: a condition that a quorum queue does not know would close the connection.
    await this.declare(session);
    this.forget();
    this.#wasThere = false;
    const only = this.type === "classic" ? { ifUnused: true, ifEmpty } : {};
    try {
      return {
        kind: "removed",
        messages: await this.#answered(this.#channel.use(session, (channel) => channel.delete(queue, only))),
      };
    } catch (error) {
      if (isInUse(error)) return { kind: "in-use" };
      throw error;
    }
  }

  /** Closes its channel, as nobody wants this pool any more. */
  close(): Promise<void> {
    return this.#channel.close();
  }

  async #declare(session: Session): Promise<void> {
    try {
      if (this.#wasThere && !(await this.#declaration.isThere(session))) this.#letItBeTold();
      await this.#declaration.declare(session);
    } catch (error) {
      throw this.#refused(error);
    }
    this.#declaredIn = session.generation;
    this.#wasThere = true;
    this.#goneSinceMs = undefined;
    this.#trouble.over();
  }

  #letItBeTold(): void {
    this.#declaration.startOver();
    this.#goneSinceMs ??= performance.now();
    if (performance.now() - this.#goneSinceMs < TOLD_WITHIN_MS) throw this.#inTrouble(DELETED);
  }

  /** The error to report. A lost session is not this queue's fault. */
  #refused(error: unknown): unknown {
    if (!(error instanceof RefusedError)) return error;
    const { detail, remedy = UNKNOWN_REMEDY } = error.reason;
    return this.#inTrouble({ detail, remedy });
  }

  #inTrouble(why: Trouble): QueueRefused {
    this.forget();
    return this.#trouble.found(why);
  }

  async #answered<T>(asked: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#inTrouble(NO_ANSWER)), ANSWER_WITHIN_MS);
    });
    try {
      return await Promise.race([asked, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
