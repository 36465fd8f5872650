import { setTimeout as sleep } from "node:timers/promises";
import type { StartTask } from "@unacked/contracts";
import type { Bundle } from "../../../domain/tasks/bundles.ts";
import type { Log } from "../../log.ts";
import { Loop, untilDue } from "../../loop.ts";
import type { AtOnce } from "./at-once.ts";
import type { SenderAtOnce } from "./insert-at-once.ts";
import { type PoolClaim, TaskClaimer } from "./task-claimer.ts";
import type { TaskQueueStore } from "./task-queue-store.ts";
import type { TaskSender } from "./task-sender.ts";

const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;
/** Under load rounds are at least so far apart: there are fewer commits, and more travels together. */
const BUSY_PAUSE_MS = 10;
/** So many claimed in one round are load. BUSY_PER_S lately are, too: behind a limit a round may find none just before hundreds. */
const BUSY = 50;
/** While what is Sent ahead of the workers lasts, room is filled so far apart: a quarter of a turn (domain/tasks/window.ts). */
const REFILL_MS = 25;
/** After an end it looks for what another manager has left waiting, though it has left nothing itself. */
const LOOK_AGAIN_MS = 50;
const PROMOTE_LIMIT = 5_000;
const CANCEL_LIMIT = 1_000;
/** While so much of params and inputs of a pool waits for the broker's confirms, no more of it is claimed. */
const MAX_CHARS = 16_777_216;

export interface TaskDispatcherParts {
  store: TaskQueueStore;
  sender: TaskSender;
  /** What was Scheduled is Ready. */
  promoted(): void;
  /** Somebody outside waits for tasks of one of these types, to take them. */
  isWaitedFor(pool: string, types: ReadonlySet<string>): boolean;
  log: Log;
}

const noop = (): void => undefined;

/**
 * Comes in: tasks that are due, room in the window. Guarantees: a task is committed as Sent before it is published, nothing is
 * claimed while the broker cannot be sent to, and no transaction is open while it is waited for. A crash between commit and
 * publish leaves a task that is Sent and nowhere, which is proven absent. Every crash: docs/decisions/0011-tasks.md.
 */
export class TaskDispatcher implements SenderAtOnce {
  readonly #parts: TaskDispatcherParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  readonly #underWay = new Set<Promise<void>>();
  readonly #claimer: TaskClaimer;
  #cancelsAtMs = 0;
  /** The last round may have left some of what is Ready for want of room; `#isThereRoom`: there has been room since it began. */
  #maySomeWait = true;
  #isThereRoom = false;
  /** The workers are busy for a while without another round. */
  #isAmple = false;
  /** When the next task is due, by `performance.now()`, as far as was seen. */
  #dueAtMs = Number.NEGATIVE_INFINITY;
  /** When a pool's queue last did not take something, by `performance.now()`; none once it has taken one. */
  readonly #refusedMs = new Map<string, number>();
  /** Pools in which the last look has left some. */
  #leftIn: ReadonlySet<string> = new Set();
  #looksAgain: NodeJS.Timeout | undefined;
  /** Characters that are being sent, by pool: the queue of one may confirm nothing, and the others go on. */
  readonly #chars = new Map<string, number>();

  constructor(parts: TaskDispatcherParts) {
    this.#parts = parts;
    this.#claimer = new TaskClaimer(parts);
  }

  start(): void {
    this.#loop.start();
  }

  /** Claims no more, and waits for what is being sent: under an alarm until the publisher is closed, too. */
  async stop(): Promise<void> {
    this.#loop.stop();
    clearTimeout(this.#looksAgain);
    await this.#loop.over;
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Something may be due, or limits have changed, or workers. */
  wake(): void {
    this.#loop.wake();
  }

  /**
   * Some have ended, and nothing else has happened. Where nothing waits, it need not look for what may take their places, but for what other managers
   * may have left since: they do not hear of ends that this one reads. Where workers have enough ahead of them, room is filled a little later, more of it together.
   */
  madeRoom(): void {
    this.#isThereRoom = true;
    if (this.#maySomeWait && !this.#isAmple) return this.#loop.wake();
    this.#looksAgain ??= setTimeout(() => this.#loop.wake(), this.#maySomeWait ? REFILL_MS : LOOK_AGAIN_MS);
  }

  atOnce(pool: string, counts: ReadonlyMap<string, number>): AtOnce | undefined {
    const { sender, isWaitedFor } = this.#parts;
    const mayClaim = sender.isReady && !this.#loop.isStopped && !this.#isFull(pool);
    if (!mayClaim || this.#leftIn.has(pool) || isWaitedFor(pool, new Set(counts.keys()))) return undefined;
    return this.#claimer.atOnce(pool, counts);
  }

  sent(pool: string, tasks: readonly StartTask[], tried: Parameters<SenderAtOnce["sent"]>[2]): void {
    const claimed = tasks.map((task) => ({ task, isFirstSend: true, isUnhurt: true }));
    this.#sendAll(this.#claimer.bundlesAtOnce(pool, claimed, tried));
  }

  during<T>(work: Promise<T>): Promise<T> {
    const over = work.then(noop, noop).finally(() => this.#underWay.delete(over));
    this.#underWay.add(over);
    return work;
  }

  /** Somebody has cancelled what runs: its service is told at once. */
  cancelNow(): void {
    this.#cancelsAtMs = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  async #round(): Promise<number> {
    const { store, sender } = this.#parts;
    await sender.ready(this.#loop.signal);
    const isWoken = this.#loop.takeWake();
    clearTimeout(this.#looksAgain);
    this.#looksAgain = undefined;
    const mayBeQuiet = !isWoken && !this.#maySomeWait && performance.now() < this.#dueAtMs;
    if (mayBeQuiet && (await this.#isQuiet())) return this.#untilDue();
    this.#isThereRoom = false;
    this.#maySomeWait = false; // what is told meanwhile is asked for below
    const { promoted, nextDueInMs } = await store.promoteDue(PROMOTE_LIMIT);
    this.#dueAtMs = performance.now() + (promoted === PROMOTE_LIMIT ? 0 : (nextDueInMs ?? Number.POSITIVE_INFINITY));
    if (promoted > 0) this.#parts.promoted();
    await this.#claimer.lookAtPaces();
    const { claimed, isAll, isCut, isAmple, nextRoomAtMs } = await this.#claimAll();
    await this.#cancelDue();
    if (claimed >= BUSY || this.#claimer.isBusy) await sleep(BUSY_PAUSE_MS, undefined, { signal: this.#loop.signal });
    this.#maySomeWait ||= !isAll;
    this.#isAmple = isAmple && !this.#claimer.isBusy;
    if (promoted === PROMOTE_LIMIT || isCut) return 0;
    if (this.#maySomeWait && this.#isThereRoom) return this.#isAmple ? Math.min(REFILL_MS, this.#untilDue()) : 0;
    return Math.min(this.#untilDue(), Math.max(1, nextRoomAtMs - performance.now()));
  }

  /** Makes one look, together with those of others, in the place of a round that would find nothing. */
  async #isQuiet(): Promise<boolean> {
    const { isAnyReady, isCancelDue, nextDueInMs, paces, servedPools } = await this.#parts.store.outlook();
    this.#claimer.sawPaces(paces, servedPools);
    this.#dueAtMs = performance.now() + (nextDueInMs ?? Number.POSITIVE_INFINITY);
    return !isAnyReady && !isCancelDue && (nextDueInMs ?? 1) > 0;
  }

  #untilDue(): number {
    return untilDue(this.#dueAtMs - performance.now(), BACKSTOP_MS);
  }

  #failed(error: unknown): number {
    this.#maySomeWait = true;
    this.#parts.log.warn({ err: error }, "tasks could not be sent, trying again");
    this.#loop.takeWake(); // what wakes it does not shorten the pause
    return FAILED_PAUSE_MS;
  }

  /** @returns what claim returns for one pool: `isAll`, `isAmple` if all pools have it, `isCut` if any has */
  async #claimAll(): Promise<Pick<PoolClaim, "claimed" | "isAll" | "isCut" | "isAmple" | "nextRoomAtMs">> {
    const { store } = this.#parts;
    let count = 0;
    const leftIn = new Set<string>();
    let areAll = true;
    let isAnyCut = false;
    let areAmple = true;
    let nextRoomAtMs = Number.POSITIVE_INFINITY;
    for (const pool of await store.waitingPools()) {
      if (this.#isFull(pool.pool)) {
        leftIn.add(pool.pool);
        // It is looked at again when the broker has confirmed some.
        areAll = false;
        areAmple = false;
        continue;
      }
      const { bundles, left, claimed, isAll, isCut, hasRoom, ...next } = await this.#claimer.claim(pool);
      count += claimed;
      areAll &&= isAll;
      isAnyCut ||= isCut && !this.#refusesNow(pool.pool);
      areAmple &&= isAll || next.isAmple;
      if (!hasRoom) leftIn.add(pool.pool);
      nextRoomAtMs = Math.min(nextRoomAtMs, next.nextRoomAtMs);
      if (left.length > 0) await this.#returned(left, store.unclaim(left));
      this.#sendAll(bundles);
    }
    this.#leftIn = leftIn;
    return { claimed: count, isAll: areAll, isCut: isAnyCut, isAmple: areAmple, nextRoomAtMs };
  }

  /** It is not awaited: what the broker has yet to confirm is Sent, and in the window. */
  #sendAll(bundles: Bundle[]): void {
    for (const bundle of bundles) {
      const sending = this.#send(bundle).finally(() => this.#underWay.delete(sending));
      this.#underWay.add(sending);
    }
  }

  async #send(bundle: Bundle): Promise<void> {
    const { pool } = bundle.tasks[0];
    const chars = bundle.tasks.reduce((sum, task) => sum + charsOf(task), 0);
    this.#add(pool, chars);
    const outcome = await this.#parts.sender.send(bundle);
    const wasFull = this.#isFull(pool);
    this.#add(pool, -chars);
    if (wasFull && !this.#isFull(pool)) this.wake();
    if (outcome !== "not-taken") return void this.#refusedMs.delete(pool);
    this.#refusedMs.set(pool, performance.now());
    await this.#returned(bundle.tasks, this.#parts.store.giveBack(bundle.tasks));
  }

  /** What the pool's queue does not take comes back, and would be claimed again at once. */
  #refusesNow(pool: string): boolean {
    return performance.now() - (this.#refusedMs.get(pool) ?? Number.NEGATIVE_INFINITY) < BACKSTOP_MS;
  }

  #add(pool: string, chars: number): void {
    this.#chars.set(pool, (this.#chars.get(pool) ?? 0) + chars);
  }

  #isFull(pool: string): boolean {
    return (this.#chars.get(pool) ?? 0) > MAX_CHARS;
  }

  /** Waits for `back`, with which they are Ready again. */
  async #returned(tasks: readonly StartTask[], back: Promise<void>): Promise<void> {
    try {
      await back;
    } catch (error) {
      this.#parts.log.warn(
        { err: error, tasks: tasks.length },
        "tasks that were not sent stay Sent until they are proven absent",
      );
    } finally {
      this.#maySomeWait = true;
    }
  }

  async #cancelDue(): Promise<void> {
    if (performance.now() - this.#cancelsAtMs < BACKSTOP_MS) return;
    this.#cancelsAtMs = performance.now();
    const due = await this.#parts.store.takeCancelsDue(CANCEL_LIMIT);
    if (due.length > 0) await this.#parts.sender.cancel(due);
  }
}

const charsOf = ({ params, inputs = [] }: StartTask): number =>
  inputs.reduce((sum, { output }) => sum + (output?.length ?? 0), JSON.stringify(params).length);
