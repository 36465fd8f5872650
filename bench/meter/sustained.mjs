import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "./clock.mjs";

/** What is added at once. */
export const BATCH = 1_000;
/** So many wait at most: enough that nobody runs dry, and few enough that all are told of by the end. */
const BACKLOG = 5_000;
const LOOK_MS = 20;

/**
 * Adds as fast as is done, for so long.
 *
 * @param {number} forMs
 * @param {object} place
 * @param {(names: string[]) => Promise<unknown>} place.add resolves when all are accepted
 * @param {(added: number) => number | Promise<number>} place.open about how many are not over, at next to no cost: to count them each 20 ms
 *   took a third of the database of a peer that keeps what is over beside what is not
 * @param {() => Promise<number>} place.left exactly; asked once
 * @returns {Promise<{ perS: number, done: number }>} how many were over, and how many a second, from the first add on
 */
export async function sustained(forMs, { add, open, left }) {
  const beganMs = nowMs();
  let added = 0;
  for (;;) {
    const tookMs = nowMs() - beganMs;
    if (tookMs >= forMs) {
      const done = added - (await left());
      return { perS: (done * 1_000) / tookMs, done };
    }
    if ((await open(added)) > BACKLOG) {
      await sleep(LOOK_MS);
      continue;
    }
    await add(Array.from({ length: BATCH }, (_, i) => `task-${added + i}`));
    added += BATCH;
  }
}
