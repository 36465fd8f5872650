import { setTimeout as sleep } from "node:timers/promises";
import { type Bundle, bundlesOf } from "../../domain/tasks/bundles.ts";
import { windowOf } from "../../domain/tasks/window.ts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { TaskQueueStore, TaskSender } from "./task-store.ts";

const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;
const PACES_EVERY_MS = 250;
/** Under load rounds are no closer: fewer commits, and more travels together. */
const BUSY_PAUSE_MS = 20;
/** So many claimed in one round are load. */
const BUSY = 50;
const PROMOTE_LIMIT = 5_000;
const CANCEL_LIMIT = 1_000;
/** By so much the newest second counts in the rate at which tasks end. */
const RATE_WEIGHT = 0.5;

/**
 * Comes in: tasks that are due, room in the window. Guarantees: a task is committed as Sent before it is published, nothing is
 * claimed while the broker cannot be sent to, and no transaction is open while it is waited for. A crash between commit and
 * publish leaves a task that is Sent and nowhere, which is proven absent. Every crash: docs/decisions/0011-tasks.md.
 */
export class TaskDispatcher {
  readonly #parts: { store: TaskQueueStore; sender: TaskSender; log: Log };
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  readonly #underWay = new Set<Promise<void>>();
  readonly #rates = new Map<string, Rate>();
  #paces = new Map<string, number>();
  #pacesAtMs = Number.NEGATIVE_INFINITY;
  #cancelsAtMs = 0;

  constructor(parts: { store: TaskQueueStore; sender: TaskSender; log: Log }) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  /** Claims no more, and waits for what is being sent: under an alarm until the publisher is closed, too. */
  async stop(): Promise<void> {
    this.#loop.stop();
    await this.#loop.over;
    await Promise.all(this.#underWay);
  }

  /** Something may be due, or there may be room. */
  wake(): void {
    this.#loop.wake();
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
    const promoted = await store.promoteDue(PROMOTE_LIMIT);
    await this.#lookAtPaces();
    const { claimed, nextRoomAtMs } = await this.#claimAll();
    await this.#cancelDue();
    if (claimed >= BUSY) await sleep(BUSY_PAUSE_MS, undefined, { signal: this.#loop.signal });
    if (promoted === PROMOTE_LIMIT) return 0;
    const nextDueInMs = (await store.nextDueInMs()) ?? Number.POSITIVE_INFINITY;
    return Math.min(BACKSTOP_MS, Math.max(1, Math.min(nextDueInMs, nextRoomAtMs - performance.now())));
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "tasks could not be sent, trying again");
    this.#loop.takeWake(); // what wakes it does not shorten the pause
    return FAILED_PAUSE_MS;
  }

  /** @returns how many, and when there is room again for a type that its rate holds back */
  async #claimAll(): Promise<{ claimed: number; nextRoomAtMs: number }> {
    const { store } = this.#parts;
    let count = 0;
    let nextRoomAtMs = Number.POSITIVE_INFINITY;
    for (const { pool, workers } of await store.waitingPools()) {
      const rate = this.#rates.get(pool) ?? new Rate();
      this.#rates.set(pool, rate);
      const size = { window: windowOf(workers, rate.perS), workers };
      const { tasks: claimed, nextRoomInMs, keepsWorkers } = await store.claim(pool, size);
      if (nextRoomInMs !== null) nextRoomAtMs = Math.min(nextRoomAtMs, performance.now() + nextRoomInMs);
      rate.add(claimed.length);
      count += claimed.length;
      if (claimed.length === 0) continue;
      // Not awaited: what the broker has yet to confirm is Sent, and in the window.
      const paceOf = (type: string) => (keepsWorkers ? undefined : this.#paces.get(paceKey(pool, type)));
      for (const bundle of bundlesOf(claimed, paceOf)) {
        const sending = this.#send(bundle).finally(() => this.#underWay.delete(sending));
        this.#underWay.add(sending);
      }
    }
    return { claimed: count, nextRoomAtMs };
  }

  async #send(bundle: Bundle): Promise<void> {
    const { store, sender, log } = this.#parts;
    if ((await sender.send(bundle)) !== "not-taken") return;
    try {
      await store.giveBack(bundle);
    } catch (error) {
      log.warn({ err: error, tasks: bundle.length }, "tasks that were not sent stay Sent until they are proven absent");
    }
  }

  /** What services tell every few seconds needs no closer look. */
  async #lookAtPaces(): Promise<void> {
    if (performance.now() - this.#pacesAtMs < PACES_EVERY_MS) return;
    this.#pacesAtMs = performance.now();
    const paces = await this.#parts.store.paces();
    this.#paces = new Map(paces.map(({ pool, type, p95Ms }) => [paceKey(pool, type), p95Ms]));
  }

  async #cancelDue(): Promise<void> {
    if (performance.now() - this.#cancelsAtMs < BACKSTOP_MS) return;
    this.#cancelsAtMs = performance.now();
    const due = await this.#parts.store.takeCancelsDue(CANCEL_LIMIT);
    if (due.length > 0) await this.#parts.sender.cancel(due);
  }
}

const paceKey = (pool: string, type: string): string => `${pool} ${type}`;

/** How many a second, over about the last two. */
class Rate {
  perS = 0;
  #count = 0;
  #sinceMs = performance.now();

  add(count: number): void {
    this.#count += count;
    const tookMs = performance.now() - this.#sinceMs;
    if (tookMs < 200) return;
    this.perS += RATE_WEIGHT * ((this.#count * 1_000) / tookMs - this.perS);
    this.#count = 0;
    this.#sinceMs = performance.now();
  }
}
