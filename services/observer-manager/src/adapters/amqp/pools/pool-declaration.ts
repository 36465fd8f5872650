import { asOtherwise, type Session } from "@unacked/broker";
import { type QueueType, workQueue } from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import type { PoolChannel } from "./pool-channel.ts";
import { isDeleted, isOtherwise } from "./queue-refusals.ts";

export interface PoolDeclarationParts {
  pool: string;
  /** As which the queue is wanted. */
  type: QueueType;
  channel: PoolChannel;
  log: Log;
}

/** As what the work queue of one pool is declared: as it is wanted, or as the type that it has. Every call may be refused. */
export class PoolDeclaration {
  readonly #parts: PoolDeclarationParts;
  readonly #wanted: ReturnType<typeof workQueue>;
  #type: QueueType;

  constructor(parts: PoolDeclarationParts) {
    this.#parts = parts;
    this.#wanted = workQueue(parts.pool, parts.type);
    this.#type = parts.type;
  }

  get queue(): string {
    return this.#wanted.name;
  }

  /** The type that the queue has. It is ours if we made it. */
  get type(): QueueType {
    return this.#type;
  }

  /** The queue is gone: the next declare makes it anew, as it is wanted. */
  startOver(): void {
    this.#type = this.#parts.type;
  }

  /** A queue that exists as the other type stays so: its pool is moved to another queue, or it goes when nobody wants it. */
  async declare(session: Session): Promise<void> {
    const { pool, type, channel, log } = this.#parts;
    const declare = (as: ReturnType<typeof workQueue>) => channel.use(session, (side) => side.declareQueue(as));
    try {
      // Declaring it in vain each time would write an error into the broker's log each time, and declaring it as the other
      // type could create one that is just being deleted.
      if (
        this.#type !== type &&
        (await channel.use(session, (side) => side.keepQueue(this.#wanted)).then(() => true, isGone))
      )
        return;
      await declare(this.#wanted);
      this.#type = type;
    } catch (error) {
      if (!isOtherwise(error)) throw error;
      await declare(asOtherwise(this.#wanted)).catch(() => {
        throw error;
      });
      const other = type === "classic" ? "quorum" : "classic";
      if (this.#type !== other)
        log.warn({ event: "queue-type-kept", pool, type: other }, "the queue of a pool keeps the type it has");
      this.#type = other;
    }
  }

  async isThere(session: Session): Promise<boolean> {
    try {
      await this.#parts.channel.use(session, (side) => side.inspect(this.queue));
      return true;
    } catch (error) {
      if (isDeleted(error)) return false;
      throw error;
    }
  }
}

const isGone = (error: unknown): false => {
  if (isDeleted(error)) return false;
  throw error;
};
