import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { PoolQueues, QueueCounts } from "./pool-queues.ts";

export interface PoolStore {
  /**
   * Wanted: pools with a living service or with an observer that is not over · leftover: other pools of the books, which
   * have only observers that are over, or that leave for another pool, and services that ended.
   */
  pools(): Promise<{ wanted: string[]; leftover: string[] }>;
  /** How many messages observers that are over, or that are to be in another pool, may have left in the pool's queue; counted up to `limit`, or twice that. */
  messagesLeftBehind(pool: string, limit: number): Promise<number>;
}

export interface QueueCareParts {
  store: PoolStore;
  queues: PoolQueues;
  /** The books have read what services said: one that has just come is in them. */
  isCaughtUp(): boolean;
  log: Log;
}

const EVERY_MS = 5_000;
/** A service that restarts is back by then. */
const UNWANTED_FOR_MS = 10_000;
/** A queue that was not there may be there again by then: a service came and went. */
const GONE_AGAIN_MS = 20_000;
const FAILED_AGAIN_MS = 300_000;
/** More pools than this are looked at in the next rounds. */
const MAX_A_ROUND = 50;

/**
 * Keeps the work queues of the pools that the books want, and removes those that nobody wants: no living service, no
 * observer that is not over, no consumer. What stands in such a queue is the messages of observers that were deleted by
 * force, or are to be in another pool by now, and goes with it: these are proven absent then, and sent there. Messages beyond those are none
 * of these (older books were restored, perhaps) and keep the queue.
 * A crash in between leaves a queue that the next round removes, or one that is declared again with the next start; a start
 * that went with it is proven absent, and sent again.
 */
export class QueueCare {
  readonly #parts: QueueCareParts;
  /** Leftover pools, and when this manager saw first that they are. */
  readonly #leftSinceMs = new Map<string, number>();
  readonly #notBeforeMs = new Map<string, number>();
  /**
   * Pools in the order of their last looks. Where there are more than a round has room for, each has its turn, those that stay among them.
   */
  readonly #lookedAt = new Set<string>();
  readonly #unwanted = new Map<string, QueueCounts>();
  #wanted: string[] = [];
  readonly #loop = new Loop({
    round: () => this.#round().then(() => EVERY_MS),
    failed: (error) => this.#failed(error),
  });

  constructor(parts: QueueCareParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start(EVERY_MS);
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #round(): Promise<void> {
    const { store, queues, isCaughtUp, log } = this.#parts;
    let leftover: string[] | undefined;
    try {
      ({ wanted: this.#wanted, leftover } = await store.pools());
    } catch (error) {
      log.warn({ err: error }, "could not read which pools are in use: those that were in use before are kept");
    }
    if (!queues.isUp) return;
    await queues.keep(this.#wanted);
    if (leftover !== undefined && isCaughtUp()) await this.#clear(leftover);
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "the queues of the pools could not be checked, trying again");
    return EVERY_MS;
  }

  async #clear(leftover: string[]): Promise<void> {
    const nowMs = performance.now();
    const isLeft = new Set(leftover);
    for (const known of [this.#leftSinceMs, this.#notBeforeMs, this.#unwanted, this.#lookedAt])
      for (const pool of [...known.keys()]) if (!isLeft.has(pool)) known.delete(pool);
    for (const pool of leftover) if (!this.#leftSinceMs.has(pool)) this.#leftSinceMs.set(pool, nowMs);
    const isDue = (pool: string) =>
      nowMs - (this.#leftSinceMs.get(pool) ?? nowMs) >= UNWANTED_FOR_MS && nowMs >= (this.#notBeforeMs.get(pool) ?? 0);
    const inTurn = [...leftover.filter((pool) => !this.#lookedAt.has(pool)), ...this.#lookedAt];
    for (const pool of inTurn.filter(isDue).slice(0, MAX_A_ROUND))
      if (!this.#loop.isStopped) await this.#clearOne(pool, nowMs);
    this.#parts.queues.showUnwanted([...this.#unwanted].map(([pool, seen]) => ({ pool, ...seen })));
  }

  async #clearOne(pool: string, nowMs: number): Promise<void> {
    const { queues, log } = this.#parts;
    this.#lookedAt.delete(pool);
    this.#lookedAt.add(pool);
    this.#unwanted.delete(pool);
    try {
      const seen = await queues.look(pool);
      if (seen !== "gone" && seen.ready + seen.consumers > 0) this.#unwanted.set(pool, seen);
      if (seen !== "gone" && !(await this.#remove(pool, seen))) return;
      this.#unwanted.delete(pool);
      this.#notBeforeMs.set(pool, nowMs + GONE_AGAIN_MS);
    } catch (error) {
      this.#notBeforeMs.set(pool, nowMs + FAILED_AGAIN_MS);
      log.warn(
        { event: "queue-not-removed", pool, err: error },
        "the queue of a pool that is not used any more was not removed",
      );
    }
  }

  /** @returns whether it is not there any more */
  async #remove(pool: string, { ready, consumers }: QueueCounts): Promise<boolean> {
    const { store, queues, log } = this.#parts;
    if (consumers > 0) return false;
    if (ready > 0 && (await store.messagesLeftBehind(pool, ready)) < ready) return false;
    const removal = await queues.remove(pool, { ifEmpty: ready === 0 });
    if (removal.kind === "removed")
      log.info(
        { event: "queue-removed", pool, messages: removal.messages },
        "the queue of a pool that is not used any more was removed",
      );
    return removal.kind !== "in-use";
  }
}
