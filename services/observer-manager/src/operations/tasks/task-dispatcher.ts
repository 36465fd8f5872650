import { setTimeout as sleep } from "node:timers/promises";
import type { StartTask } from "@unacked/contracts";
import { type Bundle, bundlesOf, type Claimed, followersOf, isBatched, type TypePace } from "../../domain/tasks/bundles.ts";
import { turnsOf } from "../../domain/tasks/lanes.ts";
import { Rate } from "../../domain/tasks/rate.ts";
import { isBusyAt, laneMsAt, turnMsAt, windowOf } from "../../domain/tasks/window.ts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { TaskQueueStore, TaskSender } from "./task-store.ts";

const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;
const PACES_EVERY_MS = 250;
/** Under load rounds are no closer: fewer commits, and more travels together. */
const BUSY_PAUSE_MS = 10;
/** So many claimed in one round are load, or so many a second lately: behind a limit a round may find none just before hundreds. */
const BUSY = 50;
/** After an end it looks for what another manager has left waiting, though it has left nothing itself. */
const LOOK_AGAIN_MS = 50;
const PROMOTE_LIMIT = 5_000;
const CANCEL_LIMIT = 1_000;
/** While so much of inputs waits for the broker's confirms, no more is claimed. */
const MAX_INPUT_CHARS = 67_108_864;

export interface TaskDispatcherParts {
  store: TaskQueueStore;
  sender: TaskSender;
  /** What was Scheduled is Ready. */
  promoted(): void;
  log: Log;
}

/**
 * Comes in: tasks that are due, room in the window. Guarantees: a task is committed as Sent before it is published, nothing is
 * claimed while the broker cannot be sent to, and no transaction is open while it is waited for. A crash between commit and
 * publish leaves a task that is Sent and nowhere, which is proven absent. Every crash: docs/decisions/0011-tasks.md.
 */
export class TaskDispatcher {
  readonly #parts: TaskDispatcherParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  readonly #underWay = new Set<Promise<void>>();
  readonly #rates = new Map<string, Rate>();
  #paces = new Map<string, TypePace>();
  /** By pool: the types that take batches, and how many a call takes. */
  #batches = new Map<string, Map<string, number>>();
  #pacesAtMs = Number.NEGATIVE_INFINITY;
  #cancelsAtMs = 0;
  /** Of what is Ready, the last round may have left some for want of room; and whether there has been room since it began. */
  #maySomeWait = true;
  #isThereRoom = false;
  #looksAgain: NodeJS.Timeout | undefined;
  /** Of what is being sent. */
  #inputChars = 0;

  constructor(parts: TaskDispatcherParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  /** Claims no more, and waits for what is being sent: under an alarm until the publisher is closed, too. */
  async stop(): Promise<void> {
    this.#loop.stop();
    clearTimeout(this.#looksAgain);
    await this.#loop.over;
    await Promise.all(this.#underWay);
  }

  /** Something may be due, or limits have changed, or workers. */
  wake(): void {
    this.#loop.wake();
  }

  /**
   * Some have ended, and nothing else has happened. Where nothing waits, it need not look for what may take their places, but for what other managers
   * may have left since: they do not hear of ends that this one reads.
   */
  madeRoom(): void {
    this.#isThereRoom = true;
    if (this.#maySomeWait) this.#loop.wake();
    else this.#looksAgain ??= setTimeout(() => this.#loop.wake(), LOOK_AGAIN_MS);
  }

  /** Somebody has cancelled what runs: its service is told at once. */
  cancelNow(): void {
    this.#cancelsAtMs = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  async #round(): Promise<number> {
    const { store, sender } = this.#parts;
    await sender.ready(this.#loop.signal);
    this.#loop.takeWake();
    clearTimeout(this.#looksAgain);
    this.#looksAgain = undefined;
    this.#isThereRoom = false;
    this.#maySomeWait = false; // what is told meanwhile is asked for below
    const { promoted, nextDueInMs } = await store.promoteDue(PROMOTE_LIMIT);
    const nextDueAtMs = performance.now() + (nextDueInMs ?? Number.POSITIVE_INFINITY);
    if (promoted > 0) this.#parts.promoted();
    await this.#lookAtPaces();
    const { claimed, isAll, nextRoomAtMs } = await this.#claimAll();
    await this.#cancelDue();
    if (claimed >= BUSY || this.#isBusy()) await sleep(BUSY_PAUSE_MS, undefined, { signal: this.#loop.signal });
    this.#maySomeWait ||= !isAll;
    if (promoted === PROMOTE_LIMIT || (this.#maySomeWait && this.#isThereRoom)) return 0;
    return Math.min(BACKSTOP_MS, Math.max(1, Math.min(nextDueAtMs, nextRoomAtMs) - performance.now()));
  }

  #isBusy(): boolean {
    return [...this.#rates.values()].some(({ perS }) => isBusyAt(perS));
  }

  #failed(error: unknown): number {
    this.#maySomeWait = true;
    this.#parts.log.warn({ err: error }, "tasks could not be sent, trying again");
    this.#loop.takeWake(); // what wakes it does not shorten the pause
    return FAILED_PAUSE_MS;
  }

  /** @returns how many, whether nothing else waits, and when there is room again for a type that its rate holds back */
  async #claimAll(): Promise<{ claimed: number; isAll: boolean; nextRoomAtMs: number }> {
    const { store } = this.#parts;
    let count = 0;
    let areAll = true;
    let nextRoomAtMs = Number.POSITIVE_INFINITY;
    for (const { pool, workers, types } of await store.waitingPools()) {
      while (this.#inputChars > MAX_INPUT_CHARS) await Promise.race(this.#underWay);
      const rate = this.#rates.get(pool) ?? new Rate();
      this.#rates.set(pool, rate);
      const batches = this.#batches.get(pool) ?? NO_BATCHES;
      const asked = { window: windowOf(workers, rate.perS), workers, types, batches };
      const { tasks, nextRoomInMs, keepsWorkers, roomAhead, isAll } = await store.claim(pool, asked);
      areAll &&= isAll;
      if (nextRoomInMs !== null) nextRoomAtMs = Math.min(nextRoomAtMs, performance.now() + nextRoomInMs);
      if (tasks.length === 0) {
        rate.add(0);
        continue;
      }
      const paceOf = (type: string) => {
        const pace = this.#paces.get(paceKey(pool, type));
        return pace && keepsWorkers ? { ...pace, meanMs: null } : pace;
      };
      const companions = batches.size === 0 ? [] : await this.#companions(pool, tasks, batches);
      const followers = await this.#followers(pool, tasks, { paceOf, workers, perS: rate.perS, roomAhead });
      rate.add(tasks.length + followers.length);
      count += tasks.length + companions.length + followers.length;
      const { bundles, left } = bundlesOf([...tasks, ...companions, ...followers], paceOf, turnMsAt(rate.perS));
      if (left.length > 0) await this.#giveBack(left);
      // Not awaited: what the broker has yet to confirm is Sent, and in the window.
      for (const bundle of bundles) {
        const sending = this.#send(bundle).finally(() => this.#underWay.delete(sending));
        this.#underWay.add(sending);
      }
    }
    return { claimed: count, isAll: areAll, nextRoomAtMs };
  }

  /** Each of a type that takes batches stands for a call: the others that it takes go with it. */
  async #companions(pool: string, claimed: Claimed[], batches: ReadonlyMap<string, number>): Promise<Claimed[]> {
    const all: Claimed[] = [];
    for (const [type, size] of batches) {
      const calls = claimed.filter((one) => one.task.type === type && isBatched(one, this.#paces.get(paceKey(pool, type))));
      const [first] = calls;
      if (first === undefined || size === 1) continue;
      try {
        all.push(...(await this.#parts.store.claimCompanions(pool, first.task, calls.length * (size - 1))));
      } catch (error) {
        // What is claimed is to be sent, with companions or without.
        this.#parts.log.warn({ err: error, pool, type }, "a batch goes without the others that it has room for");
      }
    }
    return all;
  }

  /** Where a limit leaves few to be sent, others go in line behind them, so that no worker waits for the books between two. */
  async #followers(
    pool: string,
    claimed: Claimed[],
    {
      paceOf,
      workers,
      perS,
      roomAhead,
    }: { paceOf(type: string): TypePace | undefined; workers: number; perS: number; roomAhead: number },
  ): Promise<Claimed[]> {
    const all: Claimed[] = [];
    const waitMsOf = ({ maxRunning = 1 }: Claimed) => laneMsAt(perS, Math.min(maxRunning, workers));
    const mostOf = (first: Claimed) => followersOf(first, paceOf(first.task.type), waitMsOf(first));
    const leading = claimed.filter((one) => mostOf(one) > 0);
    for (const type of new Set(leading.map(({ task }) => task.type))) {
      const firsts = leading.filter(({ task }) => task.type === type) as [Claimed, ...Claimed[]];
      const lanes = firsts.map(({ task }) => task.taskId);
      const more = windowOf(workers, perS, waitMsOf(firsts[0])) - windowOf(workers, perS);
      const turns = turnsOf(lanes.length, roomAhead + more - all.length, mostOf(firsts[0]));
      if (turns.length === 0) continue;
      try {
        all.push(...(await this.#parts.store.claimFollowers(pool, type, lanes, turns)));
      } catch (error) {
        this.#parts.log.warn({ err: error, pool, type }, "tasks go without the others that could go in line behind them");
      }
    }
    return all;
  }

  async #send(bundle: Bundle): Promise<void> {
    const chars = bundle.tasks.reduce((sum, { inputs }) => sum + inputCharsOf(inputs), 0);
    this.#inputChars += chars;
    const outcome = await this.#parts.sender.send(bundle);
    this.#inputChars -= chars;
    if (outcome === "not-taken") await this.#giveBack(bundle.tasks);
  }

  async #giveBack(tasks: readonly StartTask[]): Promise<void> {
    const { store, log } = this.#parts;
    try {
      await store.giveBack(tasks);
    } catch (error) {
      log.warn({ err: error, tasks: tasks.length }, "tasks that were not sent stay Sent until they are proven absent");
    } finally {
      this.#maySomeWait = true;
    }
  }

  /** What services tell every few seconds needs no closer look. */
  async #lookAtPaces(): Promise<void> {
    if (performance.now() - this.#pacesAtMs < PACES_EVERY_MS) return;
    this.#pacesAtMs = performance.now();
    const paces = await this.#parts.store.paces();
    this.#paces = new Map(paces.map((pace) => [paceKey(pace.pool, pace.type), pace]));
    this.#batches.clear();
    for (const { pool, type, batchSize } of paces)
      if (batchSize !== null)
        this.#batches.set(pool, (this.#batches.get(pool) ?? new Map<string, number>()).set(type, batchSize));
  }

  async #cancelDue(): Promise<void> {
    if (performance.now() - this.#cancelsAtMs < BACKSTOP_MS) return;
    this.#cancelsAtMs = performance.now();
    const due = await this.#parts.store.takeCancelsDue(CANCEL_LIMIT);
    if (due.length > 0) await this.#parts.sender.cancel(due);
  }
}

const inputCharsOf = (inputs: StartTask["inputs"]): number =>
  inputs?.reduce((sum, { output }) => sum + (output?.length ?? 0), 0) ?? 0;

const NO_BATCHES: ReadonlyMap<string, number> = new Map();

const paceKey = (pool: string, type: string): string => `${pool} ${type}`;
