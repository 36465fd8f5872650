import { MAX_BUNDLE, type StartTask } from "@unacked/contracts";
import type { Claimed } from "../../../domain/tasks/bundles.ts";

/** After each lane that was asked for, a quarter more may join the next one: params may have become short again. */
const GROWS_BY = 0.25;

/**
 * How many of a type may join a lane, where its message had no place for some lately: these go back, to be claimed and read again. Of 300
 * tasks of 250 KiB one after the other, 1,744 were claimed: 8 fit into a message, and as many as take a tenth of a second were claimed for
 * each.
 */
export class LaneRoom {
  /** Numbers by pool and type; none where all find a place. */
  readonly #most = new Map<string, number>();

  next(pool: string, type: string): number {
    const key = keyOf(pool, type);
    const most = this.#most.get(key) ?? MAX_BUNDLE;
    if (most < MAX_BUNDLE) this.#most.set(key, most + Math.max(1, Math.floor(most * GROWS_BY)));
    else this.#most.delete(key);
    return most;
  }

  /** Lets as many join as have found a place in those lanes in which others have not. */
  wereLeft(pool: string, joiners: readonly Claimed[], left: readonly StartTask[]): void {
    const ids = new Set(left.map(({ taskId }) => taskId));
    const full = new Set(joiners.flatMap(({ task, lane }) => (ids.has(task.taskId) ? [lane] : [])));
    for (const type of new Set(left.map((task) => task.type))) {
      const inFull = joiners.filter(({ task, lane }) => task.type === type && full.has(lane));
      const placed = inFull.filter(({ task }) => !ids.has(task.taskId));
      this.#most.set(keyOf(pool, type), Math.floor(placed.length / new Set(inFull.map(({ lane }) => lane)).size));
    }
  }
}

const keyOf = (pool: string, type: string): string => `${pool} ${type}`;
