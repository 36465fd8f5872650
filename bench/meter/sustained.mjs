import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "./clock.mjs";

/** What is added at once. */
const BATCH = 1_000;
/** So many wait at most: enough that nobody runs dry, and few enough that all are told of by the end. */
const BACKLOG = 5_000;
const LOOK_MS = 20;

/**
 * Adds as fast as is done, for so long.
 *
 * @param {number} forMs
 * @param {(names: string[]) => Promise<unknown>} add resolves when all are accepted
 * @param {() => Promise<number>} left that are not over
 * @returns {Promise<number>} how many a second were over, from the first add on
 */
export async function sustained(forMs, add, left) {
  const beganMs = nowMs();
  let added = 0;
  for (;;) {
    const open = await left();
    const tookMs = nowMs() - beganMs;
    if (tookMs >= forMs) return ((added - open) * 1_000) / tookMs;
    if (open > BACKLOG) {
      await sleep(LOOK_MS);
      continue;
    }
    await add(Array.from({ length: BATCH }, (_, i) => `task-${added + i}`));
    added += BATCH;
  }
}
