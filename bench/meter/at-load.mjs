import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "./clock.mjs";

const EVERY_MS = 50;

/**
 * Works while jobs are added at this rate; where they cannot be added as fast, as fast as they can.
 *
 * @template T
 * @param {number} perS
 * @param {(names: string[]) => Promise<unknown>} add
 * @param {() => Promise<T>} work
 */
export async function atLoad(perS, add, work) {
  const size = Math.max(1, Math.round((perS * EVERY_MS) / 1_000));
  const names = Array.from({ length: size }, (_, i) => `load-${i}`);
  let isOver = false;
  const load = async () => {
    for (let dueMs = nowMs(); !isOver; dueMs += EVERY_MS) {
      await add(names);
      await sleep(Math.max(0, dueMs + EVERY_MS - nowMs()));
    }
  };
  const loading = load();
  try {
    return await work();
  } finally {
    isOver = true;
    await loading;
  }
}
