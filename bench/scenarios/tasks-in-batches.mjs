import { counted } from "../core/sizes.mjs";
import { perSecond, Tally } from "../core/tally.mjs";
import { NAP_MS } from "../meter/nap-ms.mjs";
import { spentFigures } from "../rig/cpu.mjs";
import { repeat } from "./bench.mjs";
import { doneOn, WORKERS } from "./tasks-done.mjs";

/**
 * What a handler gains that takes a hundred tasks in a call: of calls that take as long for a hundred as for one, and of calls that do nothing, where
 * nothing is saved but calls.
 *
 * @type {import("./bench.mjs").Scenario}
 */
export const tasksInBatches = {
  id: "tasks-in-batches",
  number: 16,
  title: "Tasks one a call, and a hundred a call",
  quickRuns: 2,
  measure,
  beside: "a hundred a call",
};

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes } = bench;
  const count = sizes.limitedTasks;
  const napped = `${counted(count)}, each call ${NAP_MS} ms, ${WORKERS} at once`;
  const tally = new Tally("tasks-in-batches", {
    napped: perSecond(`${napped}: done`),
    ...spentFigures(napped),
    done: perSecond(`${counted(count)} that do nothing: done`),
  });
  const doneOf = async (/** @type {string} */ napping, /** @type {string} */ nothing) => {
    const { done, ...spent } = await doneOn(rig, napping, count);
    return { napped: done, ...spent, done: (await doneOn(rig, nothing, count)).done };
  };
  await repeat(bench, "one a call, and a hundred", async () => {
    tally.ours(await doneOf("nap", "noop"));
    tally.raw(await doneOf("nap-many", "noop-many"));
  });
  return { figures: tally.figures };
}
