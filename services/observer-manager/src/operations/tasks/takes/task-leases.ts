import type { TaskId } from "@unacked/contracts";
import type { Log } from "../../log.ts";
import { Loop, untilDue } from "../../loop.ts";
import type { TaskTally } from "../../tally.ts";
import type { OverTask } from "../ledger/task-ledger-store.ts";
import type { TaskTakeStore } from "./task-take-store.ts";

const BACKSTOP_MS = 1_000;
const BUSY_PAUSE_MS = 50;
const LIMIT = 1_000;

export interface TaskLeasesParts {
  store: Pick<TaskTakeStore, "endLeases" | "nextLeaseInMs">;
  tally: TaskTally;
  /** Something may be due. */
  wake(): void;
  /** These are over. */
  over(tasks: TaskId[]): void;
  log: Log;
}

/**
 * Ends the leases of those who have taken tasks and are gone, by the database's clock; needs no broker. Guarantees: a task is nobody
 * else's before that. A crash leaves the lease to the next round, of any manager.
 */
export class TaskLeases {
  readonly #parts: TaskLeasesParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });

  constructor(parts: TaskLeasesParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  /** No lease is shorter than the pause between two looks, so that a new one need not wake it. */
  async #round(): Promise<number> {
    const { store, wake, log } = this.#parts;
    const nextInMs = await store.nextLeaseInMs();
    if (nextInMs === null || nextInMs > 0) return untilDue(nextInMs, BACKSTOP_MS);
    const { again, over } = await store.endLeases(LIMIT);
    if (again + over.length === 0) return BUSY_PAUSE_MS; // another manager has them just now
    log.info(
      { event: "task-leases-over", tasks: again, over: over.length },
      "who had taken tasks has neither ended nor extended them",
    );
    this.#parts.tally.leasesOver(again + over.length);
    this.#tell(over);
    wake();
    return 0;
  }

  #tell(over: OverTask[]): void {
    for (const { status } of over) this.#parts.tally.ended(status, 1);
    this.#parts.over(over.map(({ id }) => id));
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "the leases of tasks that were taken could not be looked at; it is tried again");
    return BACKSTOP_MS;
  }
}
