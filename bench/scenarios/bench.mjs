/**
 * What a scenario is given.
 *
 * @typedef {object} Bench
 * @property {import("../rig/rig.mjs").Rig} rig
 * @property {number} runs
 * @property {import("../core/sizes.mjs").Sizes} sizes
 * @property {import("../peers/peers.mjs").Peer[]} peers to be measured beside; none where that is not wanted
 * @property {(text: string) => void} say a line of progress
 */

/**
 * @typedef {object} Scenario
 * @property {string} id
 * @property {number} number
 * @property {string} title
 * @property {number} quickRuns how often it is measured with --quick
 * @property {number} [runs] and without; 5
 * @property {string} [beside] what stands in the place of the raw broker
 * @property {(bench: Bench) => Promise<{ figures: import("../core/figures.mjs").Figure[], notes?: string[] }>} measure
 */

/** Calls `work` so many times, and says which run it is. @param {Bench} bench @param {string} what @param {(run: number) => Promise<void>} work */
export async function repeat({ runs, say }, what, work) {
  for (let run = 1; run <= runs; run += 1) {
    say(`${what}: run ${run} of ${runs}`);
    await work(run);
  }
}

/**
 * Does `count` of something, so many at once.
 *
 * @param {number} count
 * @param {number} atOnce
 * @param {(index: number) => Promise<unknown>} work
 */
export async function atOnce(count, atOnce, work) {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
