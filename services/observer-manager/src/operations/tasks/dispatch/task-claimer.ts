import type { StartTask } from "@unacked/contracts";
import {
  type Bundle,
  bundlesOf,
  type Claimed,
  callsOf,
  countByType,
  isBatched,
  joinersOf,
  type TypePace,
} from "../../../domain/tasks/bundles.ts";
import { fairShareOf, turnsOf } from "../../../domain/tasks/lanes.ts";
import { isAmple, isBusyAt, isNobodyFree, laneMsAt, turnMsAt, windowOf } from "../../../domain/tasks/window.ts";
import { allInOrder } from "../../all-in-order.ts";
import type { Log } from "../../log.ts";
import type { AtOnce } from "./at-once.ts";
import { Backlogs } from "./backlogs.ts";
import { LaneRoom } from "./lane-room.ts";
import { Rate } from "./rate.ts";
import type { Outlook, TaskQueueStore } from "./task-queue-store.ts";

const PACES_EVERY_MS = 250;
/** Where nobody claims, what was seen longer ago than this does not count. */
const PACES_HOLD_MS = 2_000;
/** An insert that is to send is slow beyond this, and so much for each task, up to so much for all. */
const SLOW_INSERT_MS = 50;
const SLOW_PER_TASK_MS = 0.4;
const SLOW_TASKS_MS = 400;
/**
 * One insert sends no more: a change of limits waits for its commit, and all claims for that; and who claims meanwhile fills the window
 * once more.
 */
const MOST_AT_ONCE = 2_000;
/** An insert that counts the calls in flight reads no more of their tasks. */
const MOST_READ = 50_000;
const LONGEST_WITHOUT_MS = 5_000;

/** What was claimed in one pool. */
export interface PoolClaim {
  /** The messages to be sent. */
  bundles: Bundle[];
  /** Tasks that found no place in the message of their lane: they are to be given back. */
  left: StartTask[];
  /** How many were claimed, with `left`. */
  claimed: number;
  /** Nothing else waits. */
  isAll: boolean;
  /** Its window has room for more of what waits, which one claim did not read. */
  isCut: boolean;
  /** Some of its calls had room for more: unlike full ones they leave nothing that could have been sent. */
  hasRoom: boolean;
  /** What it leaves waits for room in the window alone, and what is Sent there has the workers busy for a while. */
  isAmple: boolean;
  /** When there is room again for a type that its rate holds back, by `performance.now()`; infinity: none is. */
  nextRoomAtMs: number;
}

/**
 * Comes in: a pool in which something waits. Goes out: what its window has room for, claimed in the books, and who travels with whom. It knows how long tasks
 * take and how many a second are sent, by which windows, bundles and lanes are as long as they may be (domain/tasks).
 */
export class TaskClaimer {
  readonly #parts: { store: TaskQueueStore; log: Log };
  /** Rates of sends, by pool. */
  readonly #rates = new Map<string, Rate>();
  readonly #backlogs: Backlogs;
  readonly #laneRoom = new LaneRoom();
  #paces = new Map<string, TypePace>();
  /** The types that take batches, and how many tasks a call takes; by pool. */
  #batches = new Map<string, Map<string, number>>();
  /** Pools with services that live and do not drain. */
  #served = new Map<string, Awaited<ReturnType<TaskQueueStore["servedPools"]>>[number]>();
  #pacesAtMs = Number.NEGATIVE_INFINITY;
  /** When it is tried again to send what is created at once, by pool. */
  readonly #atOnceFromMs = new Map<string, number>();

  constructor(parts: { store: TaskQueueStore; log: Log }) {
    this.#parts = parts;
    this.#backlogs = new Backlogs(parts.store);
  }

  get isBusy(): boolean {
    return [...this.#rates.values()].some(({ perS }) => isBusyAt(perS));
  }

  async claim({ pool, workers, types }: Awaited<ReturnType<TaskQueueStore["waitingPools"]>>[number]): Promise<PoolClaim> {
    const rate = this.#rateOf(pool);
    const batches = this.#batches.get(pool) ?? NO_BATCHES;
    const asked = { window: windowOf(workers, rate.perS), workers, types, batches };
    const { tasks, isAll, isCut, isPlain, ...room } = await this.#parts.store.claim(pool, asked);
    const { nextRoomInMs, keepsWorkers, roomAhead } = room;
    const nextRoomAtMs = performance.now() + (nextRoomInMs ?? Number.POSITIVE_INFINITY);
    const filling = [asked.window, workers, tasks.length] as const;
    const how = { isAll, isCut, isAmple: isPlain && isAmple(...filling), nextRoomAtMs };
    if (tasks.length === 0) {
      rate.add(0);
      return { ...how, bundles: [], left: [], claimed: 0, hasRoom: isAll };
    }
    const paceOf = (type: string) => {
      const pace = this.#paces.get(paceKey(pool, type));
      return pace && keepsWorkers ? { ...pace, meanMs: null } : pace;
    };
    const { companions, areFull } = await this.#companions(pool, tasks, batches);
    const joiners = await this.#joiners(pool, tasks, { paceOf, workers, perS: rate.perS, roomAhead });
    const all = [...tasks, ...companions, ...joiners];
    const areBusy = isPlain && !isAll && isNobodyFree(...filling);
    const { bundles, left } = bundlesOf(all, paceOf, turnMsAt(rate.perS), areBusy);
    rate.add(tasks.length + joiners.length - left.length);
    this.#laneRoom.wereLeft(pool, joiners, left);
    return { ...how, bundles, left, claimed: all.length, hasRoom: isAll || !areFull };
  }

  /** To be called before claims. Learns how long tasks take, and which types take batches: services tell that every few seconds. */
  async lookAtPaces(): Promise<void> {
    if (performance.now() - this.#pacesAtMs < PACES_EVERY_MS) return;
    this.sawPaces(...(await allInOrder([this.#parts.store.paces(), this.#parts.store.servedPools()])));
  }

  /** Takes over what something else that has asked for it has come to know. */
  sawPaces(paces: Outlook["paces"], served: Outlook["servedPools"]): void {
    this.#pacesAtMs = performance.now();
    this.#served = new Map(served.map((pool) => [pool.pool, pool]));
    this.#paces = new Map(paces.map((pace) => [paceKey(pace.pool, pace.type), pace]));
    this.#batches.clear();
    for (const { pool, type, batchSize } of paces)
      if (batchSize !== null)
        this.#batches.set(pool, (this.#batches.get(pool) ?? new Map<string, number>()).set(type, batchSize));
  }

  /**
   * Whether so many of these types may be sent as they are created; undefined: they wait, to be claimed. So do those that are fewer than one call
   * takes: it is to have as many as there are when a worker is free for it.
   */
  atOnce(pool: string, counts: ReadonlyMap<string, number>): AtOnce | undefined {
    const nowMs = performance.now();
    const served = nowMs - this.#pacesAtMs > PACES_HOLD_MS ? undefined : this.#served.get(pool);
    if (served === undefined || served.isLimited || nowMs < (this.#atOnceFromMs.get(pool) ?? 0)) return undefined;
    const ofPool = this.#batches.get(pool) ?? NO_BATCHES;
    const batches = [...counts.keys()].some((type) => ofPool.has(type)) ? ofPool : NO_BATCHES;
    if ([...counts].some(([type, count]) => count < (batches.get(type) ?? 1))) return undefined;
    const window = windowOf(served.workers, this.#rateOf(pool).perS);
    const mayBeRead = batches.size === 0 ? 0 : window * Math.max(...batches.values());
    const isTooMuch = totalOf(counts) > MOST_AT_ONCE || mayBeRead > MOST_READ || callsOf(counts, batches) > window;
    return isTooMuch ? undefined : { pool, window, types: served.types, batches };
  }

  /**
   * Who travels with whom, of tasks that are Sent as they are created. An insert has no floors to begin its looks at (claim-floors.ts):
   * where they have become slow, it is tried for a tenth of the time.
   */
  bundlesAtOnce(pool: string, claimed: Claimed[], tried: { count: number; tookMs: number } | undefined): Bundle[] {
    if (tried !== undefined && tried.tookMs > SLOW_INSERT_MS + Math.min(tried.count * SLOW_PER_TASK_MS, SLOW_TASKS_MS))
      this.#atOnceFromMs.set(pool, performance.now() + Math.min(LONGEST_WITHOUT_MS, 10 * tried.tookMs));
    const rate = this.#rateOf(pool);
    rate.add(callsOf(countByType(claimed), this.#batches.get(pool) ?? NO_BATCHES));
    return bundlesOf(claimed, (type) => this.#paces.get(paceKey(pool, type)), turnMsAt(rate.perS), false).bundles;
  }

  #rateOf(pool: string): Rate {
    const rate = this.#rates.get(pool) ?? new Rate();
    this.#rates.set(pool, rate);
    return rate;
  }

  /** Each task of a type that takes batches stands for a call: the others that it takes go with it, and there may be too few of them. */
  async #companions(
    pool: string,
    claimed: Claimed[],
    batches: ReadonlyMap<string, number>,
  ): Promise<{ companions: Claimed[]; areFull: boolean }> {
    const all: Claimed[] = [];
    let areFull = true;
    for (const [type, size] of batches) {
      const calls = claimed.filter((one) => one.task.type === type && isBatched(one, this.#paces.get(paceKey(pool, type))));
      const [first] = calls;
      if (first === undefined || size === 1) continue;
      try {
        const most = calls.length * (size - 1);
        const companions = await this.#parts.store.claimCompanions(pool, first.task, most);
        areFull &&= companions.length === most;
        all.push(...companions);
      } catch (error) {
        // What is claimed is to be sent, with companions or without.
        this.#parts.log.warn({ err: error, pool, type }, "a batch goes without the others that it has room for");
      }
    }
    return { companions: all, areFull };
  }

  /**
   * Where a limit leaves few to be sent, others go in line behind them, so that no worker waits for the books between two: as many as there may be, but
   * of the last that wait each lane has its share, or what it does in a turn.
   */
  async #joiners(
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
    const lanesOf = ({ maxRunning = 1 }: Claimed) => Math.min(maxRunning, workers);
    const waitMsOf = (first: Claimed) => laneMsAt(perS, lanesOf(first));
    const mostOf = (first: Claimed, waitMs = waitMsOf(first)) => joinersOf(first, paceOf(first.task.type), waitMs);
    const leading = claimed.filter((one) => mostOf(one) > 0);
    for (const type of new Set(leading.map(({ task }) => task.type))) {
      const firsts = leading.filter(({ task }) => task.type === type) as [Claimed, ...Claimed[]];
      const window = windowOf(workers, perS, waitMsOf(firsts[0]));
      const lanes = firsts.map(({ task }) => task.taskId);
      try {
        const fair = fairShareOf(await this.#backlogs.of(pool, type, window), lanesOf(firsts[0]));
        const most = Math.min(mostOf(firsts[0]), Math.max(fair, mostOf(firsts[0], turnMsAt(perS))));
        const room = roomAhead + window - windowOf(workers, perS) - all.length;
        const turns = turnsOf(lanes.length, room, Math.min(most, this.#laneRoom.next(pool, type)));
        if (turns.length === 0) continue;
        const joiners = await this.#parts.store.claimJoiners(pool, type, lanes, turns);
        this.#backlogs.claimed(pool, type, lanes.length + joiners.length);
        all.push(...joiners);
      } catch (error) {
        this.#parts.log.warn({ err: error, pool, type }, "tasks go without the others that could go in line behind them");
      }
    }
    return all;
  }
}

const totalOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0);

const NO_BATCHES: ReadonlyMap<string, number> = new Map();

const paceKey = (pool: string, type: string): string => `${pool} ${type}`;
