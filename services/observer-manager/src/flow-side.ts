import type { FlowId } from "@unacked/contracts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import { EndedRetention } from "./operations/ended-retention.ts";
import { FlowDesk } from "./operations/flows/flow-desk.ts";
import { FlowFollower } from "./operations/flows/flow-follower.ts";
import type { Log } from "./operations/log.ts";
import { Waits } from "./operations/waits.ts";
import type { TaskSide } from "./task-side.ts";

const FORGOTTEN_AT_ONCE = 500;

export interface FlowSideParts {
  stores: Pick<Stores, "flows" | "tasks">;
  tasks: Pick<TaskSide, "wake" | "over" | "cancelled">;
  retentionMs: number;
  mayUse(pools: readonly string[]): Promise<boolean>;
  log: Log;
}

/** Wires what the manager does for flows, and starts and ends it in order. It decides nothing. */
export class FlowSide {
  readonly desk: FlowDesk;
  readonly #waits: Waits<FlowId>;
  readonly #follower: FlowFollower;
  readonly #retention: EndedRetention;

  constructor({ stores, tasks, retentionMs, mayUse, log }: FlowSideParts) {
    const { store, following } = stores.flows;
    this.#waits = new Waits(store, log);
    const wake = () => tasks.wake();
    this.desk = new FlowDesk({
      store,
      types: stores.tasks.store,
      waits: this.#waits,
      mayUse,
      wake,
      followNow: () => this.wake(),
    });
    this.#follower = new FlowFollower({
      store: following,
      unlocked: wake,
      tasksOver: (ids) => tasks.over(ids),
      flowsOver: (ids) => this.#waits.over(ids),
      cancelled: (refuse) => tasks.cancelled([], refuse),
      log,
    });
    this.#retention = new EndedRetention({
      what: "flows",
      forget: (olderThanMs) => following.forget(olderThanMs, FORGOTTEN_AT_ONCE),
      retentionMs,
      log,
    });
  }

  start(): void {
    this.#follower.start();
    this.#retention.start();
  }

  /** Tasks of flows may have ended. */
  wake(): void {
    this.#follower.wake();
  }

  /** Nobody waits for an end any more. */
  endWaits(): void {
    this.#waits.close();
  }

  async close(): Promise<void> {
    await Promise.all([this.#follower.stop(), this.#retention.stop()]);
  }
}
