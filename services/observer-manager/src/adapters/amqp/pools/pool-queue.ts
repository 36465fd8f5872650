import { asOtherwise, RefusedError, type Session, type SideChannel } from "@unacked/broker";
import { backoffMs, type QueueType, TOLD_WITHIN_MS, workQueue } from "@unacked/contracts";
import type { QueueTrouble } from "../../../domain/overview/facts.ts";
import type { Log } from "../../../operations/log.ts";
import type { QueueCounts, Removal } from "../../../operations/pools/pool-queues.ts";
import { isDeleted, isInUse, isOtherwise } from "./queue-refusals.ts";

/** How long an answer is waited for. The question stays open after that, and nothing else is asked meanwhile. */
const ANSWER_WITHIN_MS = 5_000;
const RETRIES = { firstMs: 1_000, maxMs: 30_000 };

const NO_ANSWER: Omit<QueueTrouble, "pool"> = {
  detail: `the broker does not answer what is asked of this queue within ${ANSWER_WITHIN_MS} ms`,
  remedy: "Look at the node that leads or has this queue; it is tried again.",
};

const DELETED: Omit<QueueTrouble, "pool"> = {
  detail: "it was deleted",
  remedy: "It is declared again in a moment, when its consumers have been told.",
};
/** How long a refusal counts: a start that was refused comes again after a second, while it is refused. */
const NACKED_LATELY_MS = 30_000;
const NACKED: Omit<QueueTrouble, "pool"> = {
  detail: "the broker refuses what is put into it (basic.nack)",
  remedy:
    "Look at the node that leads it, and for a policy that bounds its length (overflow: reject-publish); each start is sent again, once a second.",
};
const UNKNOWN_REMEDY = "Look at the broker's log; it is tried again.";

/** The queue cannot be used now; `trouble` says why. */
export class QueueRefused extends Error {
  override readonly name = "QueueRefused";
  readonly trouble: QueueTrouble;

  constructor(trouble: QueueTrouble) {
    super(`the queue of pool ${trouble.pool}: ${trouble.detail}`);
    this.trouble = trouble;
  }
}

export interface PoolQueueParts {
  pool: string;
  type: QueueType;
  /** False means that its channel is closed after each use, since there are so many. */
  keepsChannel(): boolean;
  log: Log;
}

/**
 * The work queue of one pool, on a channel of its own: a refusal or a missing answer here harms no other pool and not the
 * session. After a refusal it is tried again after 1 s, then 2, 4 … 30 s; until then every caller is told why at once.
 */
export class PoolQueue {
  readonly #parts: PoolQueueParts;
  readonly #declaration: ReturnType<typeof workQueue>;
  #trouble: QueueTrouble | undefined;
  #nackedAtMs = Number.NEGATIVE_INFINITY;
  #declaredIn: number | undefined;
  /** The type that the queue has. It is ours if we made it. */
  #type: QueueType;
  #wasThere = false;
  #goneSinceMs: number | undefined;
  #declaring: Promise<void> | undefined;
  #failures = 0;
  #retryAtMs = 0;
  #kept: { generation: number; channel: Promise<SideChannel> } | undefined;

  constructor(parts: PoolQueueParts) {
    this.#parts = parts;
    this.#declaration = workQueue(parts.pool, parts.type);
    this.#type = parts.type;
  }

  get trouble(): QueueTrouble | undefined {
    const isNacked = performance.now() - this.#nackedAtMs < NACKED_LATELY_MS;
    return this.#trouble ?? (isNacked ? { pool: this.#parts.pool, ...NACKED } : undefined);
  }

  /** The broker has taken a start into the queue, or refused one. */
  told(outcome: "taken" | "nacked"): void {
    this.#nackedAtMs = outcome === "nacked" ? performance.now() : Number.NEGATIVE_INFINITY;
  }

  /** Declares the queue unless that was done on this connection. Rejects with QueueRefused, or when the session is lost. */
  async ensure(session: Session): Promise<void> {
    if (this.#declaredIn !== session.generation) await this.declare(session);
  }

  /** Declares the queue in any case. Rejects like `ensure`. */
  async declare(session: Session): Promise<void> {
    const isAwaited = this.#declaring !== undefined || performance.now() < this.#retryAtMs;
    if (this.#trouble !== undefined && isAwaited) throw new QueueRefused(this.#trouble);
    this.#declaring ??= this.#declare(session).finally(() => {
      this.#declaring = undefined;
    });
    await this.#answered(this.#declaring);
  }

  /** Somebody deleted the queue. It is declared again when it is next needed. */
  forget(): void {
    this.#declaredIn = undefined;
  }

  get type(): QueueType {
    return this.#type;
  }

  /**
   * The count of messages that nobody holds, and of consumers; `gone` if somebody has deleted it. Rejects like `ensure`, also while its
   * node is down.
   */
  look(session: Session): Promise<QueueCounts | "gone"> {
    return this.#answered(
      this.#use(session, async (channel) => {
        const { messageCount, consumerCount } = await channel.inspect(this.#declaration.name);
        return { ready: messageCount, consumers: consumerCount };
      }).catch((error: unknown) => {
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
    const { name } = this.#declaration;
    const seen = await this.look(session);
    if (seen === "gone") return { kind: "gone" };
    if (seen.consumers > 0 || (ifEmpty && seen.ready > 0)) return { kind: "in-use" };
    // Finds out the queue's type: a condition that a quorum queue does not know would close the connection.
    await this.declare(session);
    this.forget();
    this.#wasThere = false;
    const only = this.#type === "classic" ? { ifUnused: true, ifEmpty } : {};
    try {
      return {
        kind: "removed",
        messages: await this.#answered(this.#use(session, (channel) => channel.delete(name, only))),
      };
    } catch (error) {
      if (isInUse(error)) return { kind: "in-use" };
      throw error;
    }
  }

  /** Closes its channel, as nobody wants this pool any more. */
  async close(): Promise<void> {
    const kept = this.#kept;
    this.#kept = undefined;
    const channel = await kept?.channel.catch(() => undefined); // without a session there is no channel to close
    await channel?.close();
  }

  async #declare(session: Session): Promise<void> {
    try {
      if (this.#wasThere && !(await this.#isThere(session))) this.#letItBeTold();
      await this.#declareOrKeep(session);
    } catch (error) {
      throw this.#refused(error);
    }
    this.#declaredIn = session.generation;
    this.#wasThere = true;
    this.#goneSinceMs = undefined;
    this.#failures = 0;
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#parts.log.info({ event: "queue-there", pool: this.#parts.pool }, "the queue of a pool can be had again");
  }

  /** A queue that exists as the other type stays so: its pool is moved to another queue, or it goes when nobody wants it. */
  async #declareOrKeep(session: Session): Promise<void> {
    const { pool, type, log } = this.#parts;
    const declare = (as: ReturnType<typeof workQueue>) => this.#use(session, (channel) => channel.declareQueue(as));
    try {
      // Declaring it in vain each time would write an error into the broker's log each time, and declaring it as the other
      // type could create one that is just being deleted.
      if (
        this.#type !== type &&
        (await this.#use(session, (channel) => channel.keepQueue(this.#declaration)).then(() => true, isGone))
      )
        return;
      await declare(this.#declaration);
      this.#type = type;
    } catch (error) {
      if (!isOtherwise(error)) throw error;
      await declare(asOtherwise(this.#declaration)).catch(() => {
        throw error;
      });
      const other = type === "classic" ? "quorum" : "classic";
      if (this.#type !== other)
        log.warn({ event: "queue-type-kept", pool, type: other }, "the queue of a pool keeps the type it has");
      this.#type = other;
    }
  }

  async #isThere(session: Session): Promise<boolean> {
    try {
      await this.#use(session, (channel) => channel.inspect(this.#declaration.name));
      return true;
    } catch (error) {
      if (isDeleted(error)) return false;
      throw error;
    }
  }

  #letItBeTold(): void {
    this.#type = this.#parts.type; // the next declare makes it anew, as it is wanted
    this.#goneSinceMs ??= performance.now();
    if (performance.now() - this.#goneSinceMs < TOLD_WITHIN_MS) throw this.#inTrouble(DELETED);
  }

  /** The error to report. A lost session is not this queue's fault. */
  #refused(error: unknown): unknown {
    if (!(error instanceof RefusedError)) return error;
    const { detail, remedy = UNKNOWN_REMEDY } = error.reason;
    return this.#inTrouble({ detail, remedy });
  }

  #inTrouble(why: Omit<QueueTrouble, "pool">): QueueRefused {
    const { pool, log } = this.#parts;
    const isNews = why.detail !== this.#trouble?.detail;
    this.#trouble = { pool, ...why };
    this.#declaredIn = undefined;
    this.#retryAtMs = performance.now() + backoffMs(RETRIES, this.#failures);
    this.#failures += 1;
    if (isNews)
      log.error({ event: "queue-refused", ...this.#trouble }, "the queue of a pool is not available, trying again");
    return new QueueRefused(this.#trouble);
  }

  async #use<T>(session: Session, act: (channel: SideChannel) => Promise<T>): Promise<T> {
    if (this.#kept?.generation !== session.generation)
      this.#kept = { generation: session.generation, channel: session.openSideChannel() };
    const kept = this.#kept;
    let isGood = false;
    try {
      const answer = await act(await kept.channel);
      isGood = this.#parts.keepsChannel();
      return answer;
    } finally {
      if (!isGood && this.#kept === kept) void this.close();
    }
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

const isGone = (error: unknown): false => {
  if (isDeleted(error)) return false;
  throw error;
};
