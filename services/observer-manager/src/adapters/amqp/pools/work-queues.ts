import type { Session } from "@unacked/broker";
import type { QueueType } from "@unacked/contracts";
import type { QueueTrouble } from "../../../domain/overview/facts.ts";
import type { Log } from "../../../operations/log.ts";
import type { PoolQueues, QueueCounts, Removal } from "../../../operations/pools/pool-queues.ts";
import { PoolQueue } from "./pool-queue.ts";

/** With more pools than this no channel is kept open: a connection has about two thousand. */
const MAX_KEPT_CHANNELS = 200;
/** How many queues are asked at once. */
const AT_ONCE = 20;

/**
 * The work queues of all pools, each handled by itself. A queue is made when its pool first needs it, so that an observer
 * can wait for the first service of its pool.
 */
export class WorkQueues implements PoolQueues {
  readonly #session: () => Session | undefined;
  readonly #type: QueueType;
  readonly #log: Log;
  readonly #queues = new Map<string, PoolQueue>();
  /** Queues that exist although nobody wants them. */
  unwanted: readonly ({ pool: string } & QueueCounts)[] = [];

  constructor(session: () => Session | undefined, type: QueueType, log: Log) {
    this.#session = session;
    this.#type = type;
    this.#log = log;
  }

  get isUp(): boolean {
    return this.#session() !== undefined;
  }

  /** The queues that cannot be used now. */
  get troubles(): QueueTrouble[] {
    return [...this.#queues.values()].flatMap(({ trouble }) => trouble ?? []);
  }

  /** Rejects with QueueRefused if the broker refuses this very queue, and while the broker is away. */
  async ensure(pool: string): Promise<void> {
    await this.#of(pool).ensure(this.#up());
  }

  /** The type of the pool's queue, once that is known. A queue keeps the type that it was made with. */
  typeOf(pool: string): QueueType {
    return this.#queues.get(pool)?.type ?? this.#type;
  }

  async keep(pools: readonly string[]): Promise<void> {
    const wanted = new Set(pools);
    for (const [pool, queue] of this.#queues) {
      if (wanted.has(pool)) continue;
      this.#queues.delete(pool);
      void queue.close();
    }
    await this.#each(pools, (queue, session) => queue.declare(session));
  }

  /** A start of this pool came back: somebody deleted the queue. It is declared again with the next one. */
  forget(pool: string): void {
    this.#queues.get(pool)?.forget();
  }

  /** Notes what became of a start that was published to this pool's queue. */
  told(pool: string, outcome: "taken" | "nacked"): void {
    this.#queues.get(pool)?.told(outcome);
  }

  async look(pool: string): Promise<QueueCounts | "gone"> {
    const session = this.#up();
    return this.#aside(pool, (queue) => queue.look(session));
  }

  /** The depths of the queues that can be read. */
  async depths(pools: readonly string[]): Promise<({ pool: string } & QueueCounts)[]> {
    const found = await this.#each(pools, async (queue, session) => {
      await queue.ensure(session);
      return queue.look(session);
    });
    return found.flatMap((look, i) => (look === undefined || look === "gone" ? [] : { pool: pools[i] as string, ...look }));
  }

  async remove(pool: string, only: { ifEmpty: boolean }): Promise<Removal> {
    const session = this.#up();
    return this.#aside(pool, (queue) => queue.remove(session, only));
  }

  showUnwanted(unwanted: readonly ({ pool: string } & QueueCounts)[]): void {
    this.unwanted = unwanted;
  }

  /** Results are undefined for queues that are refused, or over which the session was lost. */
  async #each<T>(pools: readonly string[], act: (queue: PoolQueue, session: Session) => Promise<T>) {
    const answers: (T | undefined)[] = [];
    for (let i = 0; i < pools.length; i += AT_ONCE) {
      const session = this.#session();
      if (session === undefined) return answers;
      const some = pools.slice(i, i + AT_ONCE).map((pool) => act(this.#of(pool), session));
      for (const settled of await Promise.allSettled(some))
        answers.push(settled.status === "fulfilled" ? settled.value : undefined);
    }
    return answers;
  }

  /** Acts on the queue of a pool that nobody wants, so that its troubles are not reported. */
  async #aside<T>(pool: string, act: (queue: PoolQueue) => Promise<T>): Promise<T> {
    const queue = this.#new(pool);
    try {
      return await act(queue);
    } finally {
      void queue.close();
    }
  }

  #of(pool: string): PoolQueue {
    const known = this.#queues.get(pool);
    if (known !== undefined) return known;
    const queue = this.#new(pool);
    this.#queues.set(pool, queue);
    return queue;
  }

  #new(pool: string): PoolQueue {
    const keepsChannel = () => this.#queues.size <= MAX_KEPT_CHANNELS;
    return new PoolQueue({ pool, type: this.#type, keepsChannel, log: this.#log });
  }

  #up(): Session {
    const session = this.#session();
    if (session === undefined) throw new Error("the broker session that declares work queues is down");
    return session;
  }
}
