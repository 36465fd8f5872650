import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "./clock.mjs";

const PAUSE_MS = 20;

/**
 * Each when the one before runs, after a pause.
 *
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {string} prefix
 * @param {number} count
 * @param {(name: string) => Promise<void>} send
 * @returns {Promise<number[]>} how long each took, in ms
 */
export async function oneByOne(rig, prefix, count, send) {
  const watch = rig.meter.watch();
  const took = [];
  for (let i = 0; i < count; i += 1) {
    const name = `${prefix}-${i}`;
    const sentMs = nowMs();
    await send(name);
    await watch.until(() => watch.startedAtMs.has(name), `${name} to run`);
    took.push(Number(watch.startedAtMs.get(name)) - sentMs);
    await sleep(PAUSE_MS);
  }
  watch.end();
  return took;
}
