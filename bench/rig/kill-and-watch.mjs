import { setTimeout as sleep } from "node:timers/promises";

/** A process that has just started compiles for a while: that is not what is measured. */
const SETTLE_MS = 500;

/**
 * @param {import("./rig.mjs").Rig} rig
 * @param {import("./programs.mjs").Program} holder
 * @param {import("./programs.mjs").Program} heir
 * @param {number} count
 */
export async function killAndWatch(rig, holder, heir, count) {
  await sleep(SETTLE_MS);
  const watch = rig.meter.watch([heir.pid]);
  const killedMs = holder.signal("SIGKILL");
  await watch.untilStarted(count);
  watch.end();
  if (watch.started !== count) throw new Error(`${watch.started} handlers started instead of ${count}`);
  return { killedMs, firstMs: watch.firstStartMs - killedMs, allMs: watch.lastStartMs - killedMs };
}
