import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "./clock.mjs";

const PAUSE_MS = 20;
/** The longest at which one of the peers polls: pg-boss at its defaults. */
const LONGEST_POLL_MS = 2_000;

/** A pause between two of them. After the same one each would meet whoever polls at the same moment of its interval. */
export const anyMoment = () => Math.random() * LONGEST_POLL_MS;

/**
 * Each when the one before runs, after a pause.
 *
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {string} prefix
 * @param {number} count
 * @param {(name: string) => Promise<void>} send
 * @param {() => number} [pauseMs] `anyMoment` where somebody is measured beside who polls
 * @returns {Promise<number[]>} how long each took, in ms
 */
export async function oneByOne(rig, prefix, count, send, pauseMs = () => PAUSE_MS) {
  const watch = rig.meter.watch();
  const took = [];
  for (let i = 0; i < count; i += 1) {
    const name = `${prefix}-${i}`;
    const sentMs = nowMs();
    await send(name);
    await watch.until(() => watch.startedAtMs.has(name), `${name} to run`);
    took.push(Number(watch.startedAtMs.get(name)) - sentMs);
    await sleep(pauseMs());
  }
  watch.end();
  return took;
}
