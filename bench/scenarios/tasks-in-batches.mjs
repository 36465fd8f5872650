import { counted } from "../core/sizes.mjs";
import { perSecond, Tally } from "../core/tally.mjs";
import { NAP_MS } from "../meter/nap-ms.mjs";
import { spentFigures } from "../rig/cpu.mjs";
import { repeat } from "./bench.mjs";
import { doneOn, WORKERS } from "./tasks-done.mjs";

/**
 * What a handler gains that takes up to a hundred tasks in a call: of calls that take as long for a hundred as for one, and of calls that do
 * nothing, where nothing is saved but calls.
 *
 * @type {import("./bench.mjs").Scenario}
 */
export const tasksInBatches = {
  id: "tasks-in-batches",
  number: 16,
  title: "Tasks up to a hundred a call, and one a call",
  quickRuns: 2,
  measure,
  beside: "one a call",
};

/** @typedef {"ours" | "raw"} Side */
/** How many tasks a service runs at once unless it is told otherwise. */
const DEFAULT_WORKERS = 10;
const TYPES = { ours: { napping: "nap-many", nothing: "noop-many" }, raw: { napping: "nap", nothing: "noop" } };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes } = bench;
  const [count, few] = [sizes.limitedTasks, sizes.limitedTasks / 6];
  const napped = `${counted(count)}, each call ${NAP_MS} ms, ${WORKERS} calls at once`;
  const tally = new Tally("tasks-in-batches", {
    napped: perSecond(`${napped}: done, from the first create to the last end in the books`),
    ...spentFigures(napped),
    byDefault: perSecond(
      `${counted(few)}, each call ${NAP_MS} ms, ${DEFAULT_WORKERS} calls at once, which is the default: done, likewise`,
    ),
    done: perSecond(`${counted(count)} that do nothing, ${WORKERS} calls at once: done, likewise`),
  });
  // On servers that are as clean as those of the first: whoever comes last would pay for the vacuums of all.
  const doneOf = async (/** @type {string} */ type, many = count, workers = WORKERS) => {
    await rig.dropDatabases();
    return await doneOn(rig, type, many, { workers });
  };
  await repeat(bench, "up to a hundred a call, and one", async (run) => {
    for (const side of /** @type {Side[]} */ (run % 2 === 1 ? ["ours", "raw"] : ["raw", "ours"])) {
      const { done: napped, ...spent } = await doneOf(TYPES[side].napping);
      const { done: byDefault } = await doneOf(TYPES[side].napping, few, DEFAULT_WORKERS);
      tally[side]({ napped, ...spent, byDefault, done: (await doneOf(TYPES[side].nothing)).done });
    }
  });
  return { figures: tally.figures };
}
