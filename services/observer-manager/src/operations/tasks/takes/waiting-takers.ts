import type { TakeTasks, TaskId } from "@unacked/contracts";
import type { Action } from "../../access/audit.ts";
import type { Log } from "../../log.ts";
import { Loop } from "../../loop.ts";
import type { TaskQueueStore } from "../dispatch/task-queue-store.ts";
import { TakersLine } from "./takers-line.ts";
import { TakersTurns } from "./takers-turns.ts";
import type { HeldTask, TaskTakeStore } from "./task-take-store.ts";

/** When so many wait, others are answered at once that there is none. */
const MAX_WAITING = 10_000;
/** They wait for so many types of pools, all together: each look asks for all of them. Who brings more than these does not wait, either. */
const MAX_KINDS = 20_000;
/** It looks so often for what another manager has made Ready, by one statement for all who wait here. */
const LOOK_EVERY_MS = 500;
const PROMOTE_LIMIT = 5_000;

interface Waiter {
  asked: TakeTasks;
  action: Action;
  answer(tasks: HeldTask[]): void;
}

export interface WaitingTakersParts {
  store: TaskTakeStore;
  queue: Pick<TaskQueueStore, "promoteDue">;
  /** What was Scheduled is Ready: for services, too. */
  promoted(): void;
  /** These are over. */
  over(tasks: TaskId[]): void;
  log: Log;
}

/**
 * Those who wait for a task to take. It is woken by whatever this manager makes Ready or makes room for, and else looks twice a second,
 * while somebody waits. A crash leaves nobody waiting, and what was claimed for one who has not heard of it until its lease is over.
 */
export class WaitingTakers {
  readonly #parts: WaitingTakersParts;
  readonly #line = new TakersLine<Waiter>();
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });

  constructor(parts: WaitingTakersParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  /** Nobody waits any more, or will. Idempotent. Resolves when nothing is claimed for anybody. */
  close(): Promise<void> {
    const ended = this.#loop.end();
    for (const { answer } of this.#line.all()) answer([]);
    return ended;
  }

  /** Something may be Ready, or there may be room. */
  wake(): void {
    if (this.#line.size > 0) this.#loop.wake();
  }

  /** Somebody waits for one of these. */
  isWaitedFor(pool: string, types: ReadonlySet<string>): boolean {
    return this.#line.isWaitedFor(pool, types);
  }

  /** Resolves with what it was given, or with none after `asked.wait`, or as soon as `signal` says that nobody is there to be told. */
  wait(asked: TakeTasks, action: Action, signal: AbortSignal): Promise<HeldTask[]> {
    const isFull = this.#line.size >= MAX_WAITING || this.#line.kindCountWith(asked) > MAX_KINDS;
    if (isFull || this.#loop.isStopped || signal.aborted) return Promise.resolve([]);
    return new Promise((resolve) => {
      const leave = (): void => waiter.answer([]);
      const answer = (tasks: HeldTask[]): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        if (this.#line.delete(waiter)) resolve(tasks);
        else if (tasks.length > 0) this.giveBack(tasks, action); // he left while they were claimed
      };
      const waiter: Waiter = { asked, action, answer };
      const timer = setTimeout(leave, asked.wait);
      signal.addEventListener("abort", leave);
      this.#line.add(waiter);
      this.#loop.wake();
    });
  }

  /** Gives back tasks of which nobody has heard that they are his. */
  giveBack(tasks: HeldTask[], action: Action): void {
    const { store, over, log } = this.#parts;
    void store.giveBack(tasks, action).then(
      (cancelled) => {
        if (cancelled.length > 0) over(cancelled);
        this.wake();
      },
      (error: unknown) => log.debug({ err: error }, "tasks that nobody took are so until their lease is over"),
    );
  }

  /** Tries them in the order in which they came. Nobody is tried for whose types there is none, or no room was for one before him. */
  async #round(): Promise<number> {
    this.#loop.takeWake();
    if (this.#line.size === 0) return Number.POSITIVE_INFINITY;
    const { store, queue, over } = this.#parts;
    const { promoted, nextDueInMs } = await queue.promoteDue(PROMOTE_LIMIT);
    const nextDueAtMs = performance.now() + (nextDueInMs ?? Number.POSITIVE_INFINITY);
    if (promoted > 0) this.#parts.promoted();
    const turns = new TakersTurns(this.#line, await store.waiting(this.#line.kinds()));
    let nextRoomInMs = Number.POSITIVE_INFINITY;
    for (let turn = turns.next(); turn !== undefined; turn = turns.next()) {
      const { waiter, types } = turn;
      const taken = await store.take({ ...waiter.asked, types }, waiter.action);
      if (taken.over.length > 0) over(taken.over);
      if (taken.tasks.length > 0) waiter.answer(taken.tasks);
      else turns.none(waiter.asked.pool, types);
      nextRoomInMs = Math.min(nextRoomInMs, taken.nextRoomInMs ?? Number.POSITIVE_INFINITY);
    }
    if (promoted === PROMOTE_LIMIT) return 0;
    return Math.max(1, Math.min(LOOK_EVERY_MS, nextDueAtMs - performance.now(), nextRoomInMs));
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "tasks could not be given to those who wait for them, trying again");
    return LOOK_EVERY_MS;
  }
}
