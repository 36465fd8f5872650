/** How long a task may wait in the queue for a worker that is soon free: the way of an end to the books, and of the next task back. */
const TURN_MS = 100;
/** The same from BUSY_PER_S ends on: they are then told, written and claimed by the hundred, and each of these steps takes longer. */
const BUSY_TURN_MS = 200;
const BUSY_PER_S = 1_000;
/**
 * A lane may last LANE_MS_EACH for each lane that there may be, and this at most: well below the 2 s after which what waits in one goes
 * back.
 */
const MOST_LANE_MS = 1_200;
const LANE_MS_EACH = 20;
const LEAST_SHARE = 0.25;
const MOST_TIMES = 20;
/** No pool has a larger window, whatever its services say of their workers: it is an `integer` to PostgreSQL. */
const MOST = 1_000_000;

/**
 * How many tasks of a pool are to be Sent or Running: one for each worker, and as many again as end while one end is told and answered.
 * Whatever is in the queue cannot be overtaken by what is more urgent.
 * @param endedPerS how many are sent (and so have ended) a second
 * @param waitMs how long they may wait
 */
export function windowOf(workers: number, endedPerS: number, waitMs = turnMsAt(endedPerS)): number {
  if (workers <= 0) return 0;
  const turn = (endedPerS * waitMs) / 1_000;
  const ahead = Math.min(workers * MOST_TIMES, Math.max(workers * LEAST_SHARE, turn));
  return Math.min(MOST, workers + Math.ceil(ahead));
}

/** Whether filling the window took no more than lies ahead of the workers: none of them was free. */
export const isNobodyFree = (window: number, workers: number, taken: number): boolean => taken <= window - workers;

/**
 * Whether the workers have enough ahead: filling the window took something, and at most half of what lies ahead. It takes nothing where it
 * is not our turn, say.
 */
export const isAmple = (window: number, workers: number, taken: number): boolean =>
  taken > 0 && taken <= (window - workers) / 2;

/** A turn where so many end a second, in ms. */
export const turnMsAt = (endedPerS: number): number => (isBusyAt(endedPerS) ? BUSY_TURN_MS : TURN_MS);

/**
 * How long the last of a lane may wait for the others, where so many lanes may run. When one ends, its worker waits for the books, so long lanes
 * waste less; and of many one ends soon, so that what is more urgent waits for that one alone.
 */
export const laneMsAt = (endedPerS: number, lanes: number): number =>
  Math.max(turnMsAt(endedPerS), Math.min(MOST_LANE_MS, lanes * LANE_MS_EACH));

export const isBusyAt = (endedPerS: number): boolean => endedPerS >= BUSY_PER_S;
