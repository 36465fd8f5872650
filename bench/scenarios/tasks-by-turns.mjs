import { perSecond, Tally } from "../core/tally.mjs";
import { sustained } from "../meter/sustained.mjs";
import { measureSustained } from "../peers/measure.mjs";
import { repeat } from "./bench.mjs";
import { noopsOf, startTasks, WORKERS } from "./tasks-done.mjs";

/**
 * The one peer that is as fast through the whole way, on the same database: a machine that is a fifth slower some minutes later must not decide
 * which of the two is ahead.
 */
const PEER = "pg-boss";

/** @type {import("./bench.mjs").Scenario} */
export const tasksByTurns = {
  id: "tasks-by-turns",
  number: 15,
  title: `Tasks sustained, by turns with ${PEER}`,
  quickRuns: 1,
  measure,
};

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes } = bench;
  const forMs = sizes.sustainedS * 1_000;
  const forLong = `created as fast as they are done, for ${sizes.sustainedS} s: done`;
  const tally = new Tally("tasks-by-turns", {
    sustained: perSecond(`that do nothing, ${forLong}`),
    // Of the peer, too: it is given up to 500 at once, as its users who want speed take them.
    many: perSecond(`the same of a type that takes batches of 100, ${forLong}`),
  });
  const sustainedOf = async (/** @type {string} */ type) => {
    await rig.dropDatabases();
    const { system } = await startTasks(rig);
    const perS = await sustained(forMs, noopsOf(system, type));
    await system.close();
    return perS;
  };
  const peers = bench.peers.filter(({ name }) => name.startsWith(PEER));
  await repeat(bench, "by turns", async () => {
    tally.ours({ sustained: await sustainedOf("noop") });
    const much = { forMs, concurrency: WORKERS, before: () => rig.dropDatabases() };
    for (const peer of peers)
      await measureSustained({ ...bench, runs: 1 }, peer, much, (who, perS) =>
        tally.peer(who, { sustained: perS, many: perS }),
      );
    tally.ours({ many: await sustainedOf("noop-many") });
  });
  return { figures: tally.figures };
}
