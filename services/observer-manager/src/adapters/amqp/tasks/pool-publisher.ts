import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import type { QueueType } from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import { PoolWindows } from "../pools/pool-window.ts";

/**
 * A proof of absence takes it that what was Sent 12 s before it is published, and confirmed or given up (task-proof-store.ts); the limit of a confirm
 * is 10 s. What has waited for longer is given back, and claimed anew.
 */
const LONGEST_WAIT_MS = 1_500;

/**
 * What goes to the queues of the pools' tasks, by two connections. A quorum queue without its majority confirms nothing: RabbitMQ soon reads no more from
 * a connection that has more than 32 open for it, and after a while the connection is given up, with all that other pools have open there, of which nobody knows
 * then whether it arrived. So little of a pool is open at a time, and what comes after a confirm that was missing goes aside until there is one.
 */
export class PoolPublisher {
  readonly #main: Publisher;
  readonly #aside: Publisher;
  readonly #log: Log;
  readonly #windows = new PoolWindows({ longestMs: LONGEST_WAIT_MS });
  /** Pools that go aside. */
  readonly #late = new Set<string>();

  constructor(main: Publisher, aside: Publisher, log: Log) {
    this.#main = main;
    this.#aside = aside;
    this.#log = log;
  }

  /** Rejects with a PublishError, or with NotTried. A classic queue confirms or is refused, and holds up nobody. */
  publish(pool: string, type: QueueType, message: Outgoing): Promise<void> {
    return type === "classic" ? this.#main.publish(message) : this.#windows.through(pool, () => this.#send(pool, message));
  }

  async #send(pool: string, message: Outgoing): Promise<void> {
    const goesAside = this.#late.has(pool);
    try {
      await (goesAside ? this.#aside : this.#main).publish(message);
    } catch (error) {
      if (error instanceof PublishError && error.code === "too-late") this.#goAside(pool);
      throw error;
    }
    if (goesAside && this.#late.delete(pool))
      this.#log.info({ event: "tasks-confirmed", pool }, "the queue of a pool's tasks confirms what is sent again");
  }

  #goAside(pool: string): void {
    this.#aside.start();
    if (this.#late.has(pool)) return;
    this.#late.add(pool);
    this.#log.warn(
      { event: "tasks-not-confirmed", pool },
      "the queue of a pool's tasks confirms nothing: it is tried on a separate connection, where it does not hold up other pools",
    );
  }
}
