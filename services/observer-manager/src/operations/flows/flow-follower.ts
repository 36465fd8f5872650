import type { FlowId, TaskId } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop, untilNext } from "../loop.ts";
import type { UnwantedSend } from "../tasks/unwanted-send.ts";
import type { FlowFollowStore } from "./flow-store.ts";

const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;
const CANCEL_AT_ONCE = 500;

export interface FlowFollowerParts {
  store: FlowFollowStore;
  /** Tasks may be due. */
  unlocked(): void;
  /** These tasks are over. */
  tasksOver(ids: TaskId[]): void;
  flowsOver(ids: FlowId[]): void;
  /** Somebody has cancelled what runs, or what these services may yet be given. */
  cancelled(refuse: UnwantedSend[]): void;
  log: Log;
}

/**
 * Comes in: ends of tasks of flows, noted by whoever wrote them; flows to be cancelled. Guarantees: each end is followed up once, a
 * chunk a transaction, by whichever manager comes first; so what comes after it is unlocked once, or cancelled. A crash in the
 * middle leaves the end, with how far it was followed. Every crash: docs/decisions/0017-flows.md.
 */
export class FlowFollower {
  readonly #parts: FlowFollowerParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  /** Nothing is cancelled before, by `performance.now()`, as it has just failed. */
  #cancelAtMs = 0;

  constructor(parts: FlowFollowerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  /** An end was noted, or a flow is to be cancelled. */
  wake(): void {
    this.#loop.wake();
  }

  async #round(): Promise<number> {
    const isWoken = this.#loop.takeWake();
    if (!isWoken && !(await this.#parts.store.hasWork())) return untilNext(BACKSTOP_MS);
    const isCancelling = await this.#cancel();
    const ends = await this.#follow();
    // There are some, but none was taken: somebody else is at them.
    return isCancelling || ends > 0 ? 0 : untilNext(BACKSTOP_MS);
  }

  async #follow(): Promise<number> {
    const { store, unlocked, tasksOver, flowsOver, log } = this.#parts;
    const followed = await store.follow();
    if (followed.unlocked > 0) unlocked();
    tasksOver(followed.cancelled);
    for (const { id, status } of followed.over) log.debug({ event: "flow-over", flow: id, status }, "a flow is over");
    flowsOver(followed.over.map(({ id }) => id));
    return followed.ends;
  }

  /** One that fails is tried again later: ends are followed up meanwhile. @returns whether there may be more of it */
  async #cancel(): Promise<boolean> {
    const { store, tasksOver, cancelled, log } = this.#parts;
    if (performance.now() < this.#cancelAtMs) return false;
    const done = await store.cancelSome(CANCEL_AT_ONCE).catch((error: unknown) => {
      this.#cancelAtMs = performance.now() + FAILED_PAUSE_MS;
      log.warn({ err: error }, "tasks of a flow that is cancelled could not be cancelled, trying again");
      return undefined;
    });
    if (done === undefined) return false;
    tasksOver(done.over);
    cancelled(done.refuse);
    return true;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "ends of tasks of flows could not be followed up, trying again");
    this.#loop.takeWake(); // what wakes it does not shorten the pause
    return FAILED_PAUSE_MS;
  }
}
