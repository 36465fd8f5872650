/** How long a task may wait in the queue for a worker that is soon free: the way of an end to the books, and of the next task back. */
const TURN_MS = 100;
/** The same where so many end a second: they are told, written and claimed by the hundred then, and each of these steps takes longer. */
const BUSY_TURN_MS = 200;
const BUSY_PER_S = 1_000;
const LEAST_SHARE = 0.25;
const MOST_TIMES = 20;

/**
 * How many tasks of a pool are to be Sent or Running: one for each worker, and as many again as end while one end is told and answered.
 * Whatever is in the queue cannot be overtaken by what is more urgent.
 * @param endedPerS how many are sent (and so have ended) a second
 */
export function windowOf(workers: number, endedPerS: number): number {
  if (workers <= 0) return 0;
  const turn = (endedPerS * turnMsAt(endedPerS)) / 1_000;
  const ahead = Math.min(workers * MOST_TIMES, Math.max(workers * LEAST_SHARE, turn));
  return workers + Math.ceil(ahead);
}

/** A turn where so many end a second, in ms. */
export const turnMsAt = (endedPerS: number): number => (isBusyAt(endedPerS) ? BUSY_TURN_MS : TURN_MS);

export const isBusyAt = (endedPerS: number): boolean => endedPerS >= BUSY_PER_S;
