import type { FlowId, TaskId } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop, untilNext } from "../loop.ts";
import type { UnwantedAttempt } from "../tasks/task-store.ts";
import type { FlowFollowStore } from "./flow-store.ts";

const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;
const CANCEL_AT_ONCE = 500;
/** Ends that an older manager wrote are looked for so often in all running flows; in some of them after the others so far apart. */
const LOST_EVERY_MS = 60_000;
const LOST_APART_MS = 1_000;

export interface FlowFollowerParts {
  store: FlowFollowStore;
  /** Tasks may be due. */
  unlocked(): void;
  /** These tasks are over. */
  tasksOver(ids: TaskId[]): void;
  flowsOver(ids: FlowId[]): void;
  /** Somebody has cancelled what runs, or what these services may yet be given. */
  cancelled(refuse: UnwantedAttempt[]): void;
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
  /** By itself: a look that takes long, or fails, holds up nothing. */
  readonly #looks = new Loop({ round: () => this.#noteLost(), failed: (error) => this.#lookFailed(error) });
  /** Behind which flow they are looked for next, and when again behind none, in ms of `performance.now()`. */
  readonly #lost: { behind: FlowId | null; roundAtMs: number } = { behind: null, roundAtMs: 0 };
  /** Not before, by the same clock: it has failed just then. */
  #cancelAtMs = 0;

  constructor(parts: FlowFollowerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
    this.#looks.start(LOST_EVERY_MS);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#loop.end(), this.#looks.end()]);
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
    // None, although there are some: somebody else is at them.
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

  /** Of some flows at a time, however many run: it is one short statement. */
  async #noteLost(): Promise<number> {
    const { behind } = this.#lost;
    if (behind === null) this.#lost.roundAtMs = performance.now() + LOST_EVERY_MS;
    const { count, last } = await this.#parts.store.noteLost(behind);
    this.#lost.behind = last;
    if (count > 0) {
      this.#parts.log.warn({ event: "flow-ends-lost", count }, "tasks of flows had ended, but that was not recorded");
      this.wake();
    }
    return last === null ? Math.max(LOST_APART_MS, this.#lost.roundAtMs - performance.now()) : LOST_APART_MS;
  }

  #lookFailed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "could not look for ends that were not recorded, trying again in a minute");
    return LOST_EVERY_MS;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "ends of tasks of flows could not be followed up, trying again");
    this.#loop.takeWake(); // what wakes it does not shorten the pause
    return FAILED_PAUSE_MS;
  }
}
