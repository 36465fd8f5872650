import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import type { QueueType } from "@unacked/contracts";
import { LONGEST_WAIT_MS } from "../../../domain/tasks/proof-times.ts";
import type { Log } from "../../../operations/log.ts";
import { PoolWindows } from "../pools/pool-window.ts";

/**
 * Publishes to the task queues of the pools, by two connections. A quorum queue without its majority confirms nothing. RabbitMQ soon stops
 * to read from a connection with more than 32 messages open for it, and later the connection is given up, with the open messages of other
 * pools, whose outcome is then unknown. So few messages of a pool are open at a time, and after a missing confirm the pool goes aside until
 * there is one.
 */
export class PoolPublisher {
  readonly #main: Publisher;
  readonly #aside: Publisher;
  readonly #log: Log;
  readonly #windows = new PoolWindows({ longestMs: LONGEST_WAIT_MS });
  /** The pools that go aside. */
  readonly #late = new Set<string>();

  constructor(main: Publisher, aside: Publisher, log: Log) {
    this.#main = main;
    this.#aside = aside;
    this.#log = log;
  }

  /**
   * Rejects with a PublishError, or with NotTried. Classic queues skip the window: they confirm or refuse, and hold up
   * nobody.
   */
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
