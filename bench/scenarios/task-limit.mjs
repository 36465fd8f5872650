import { counted } from "../core/sizes.mjs";
import { perSecond, Tally } from "../core/tally.mjs";
import { spentFigures } from "../rig/cpu.mjs";
import { repeat } from "./bench.mjs";
import { doneOn, WORKERS } from "./tasks-done.mjs";

/**
 * What a limit costs that changes nothing, as it is as large as all workers.
 *
 * @type {import("./bench.mjs").Scenario}
 */
export const taskLimit = {
  id: "task-limit",
  number: 14,
  title: `Tasks with maxRunning ${WORKERS}, as many as workers, and without`,
  quickRuns: 2,
  measure,
  beside: "no limit",
};

/** @typedef {"ours" | "raw"} Side */
const LIMITS = { ours: { maxRunning: WORKERS }, raw: undefined };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes } = bench;
  const [many, few] = [sizes.limitedTasks, sizes.limitedTasks / 3];
  const all = `${counted(many)} that do nothing`;
  const tally = new Tally("task-limit", {
    done: perSecond(`${all}: done`),
    napped: perSecond(`${counted(few)} of 50 ms each: done`),
    ...spentFigures(all),
  });
  await repeat(bench, "with the limit, and without", async (run) => {
    // What is measured first finds the disk and the broker as the last one left them, so they take turns.
    const sides = /** @type {Side[]} */ (run % 2 === 1 ? ["ours", "raw"] : ["raw", "ours"]);
    for (const side of sides) tally[side](await doneOn(rig, "noop", many, { limits: LIMITS[side] }));
    for (const side of sides) tally[side]({ napped: (await doneOn(rig, "nap", few, { limits: LIMITS[side] })).done });
  });
  return { figures: tally.figures };
}
