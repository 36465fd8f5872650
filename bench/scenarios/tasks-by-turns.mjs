import { CpuNotes } from "../core/cpu-notes.mjs";
import { perSecond, Tally } from "../core/tally.mjs";
import { inTurn } from "../core/turns.mjs";
import { sustained } from "../meter/sustained.mjs";
import { measureSustained } from "../peers/measure.mjs";
import { cpuSpent, eachUs, ownCpuMs, partsOf } from "../rig/cpu.mjs";
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
  runs: 4, // as many as there are sides
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
  const cpu = new CpuNotes();
  const own = (/** @type {"sustained" | "many"} */ figure, /** @type {string} */ type) => async () => {
    const { perS, cpuUs } = await sustainedOf(rig, type, forMs);
    tally.ours({ [figure]: perS });
    cpu.take(`Unacked, ${type}`, cpuUs);
  };
  const much = { forMs, concurrency: WORKERS, before: () => rig.dropDatabases() };
  const peers = bench.peers
    .filter(({ name }) => name.startsWith(PEER))
    .flatMap((peer) => peer.settings.map((setting) => ({ ...peer, settings: [setting] })));
  const beside = peers.map(
    (peer) => () =>
      measureSustained({ ...bench, runs: 1 }, peer, much, (who, perS, cpuUs) => {
        tally.peer(who, { sustained: perS, many: perS });
        cpu.take(`${who.peer}, ${who.setting}`, cpuUs);
      }),
  );
  const sides = [own("sustained", "noop"), ...beside, own("many", "noop-many")];
  await repeat(bench, "by turns", async (run) => {
    for (const side of inTurn(sides, run)) await side();
  });
  const order = `${bench.runs} runs; each of the ${sides.length} sides comes first by turns`;
  return { figures: tally.figures, notes: [order, ...cpu.lines] };
}

/** On servers as clean as those of the others. @param {import("../rig/rig.mjs").Rig} rig @param {string} type @param {number} forMs */
async function sustainedOf(rig, type, forMs) {
  await rig.dropDatabases();
  const { system, service } = await startTasks(rig);
  const parts = { ...partsOf(rig, system, service), adder: ownCpuMs };
  const { result, spentMs } = await cpuSpent(parts, () => sustained(forMs, noopsOf(system, type)));
  await system.close();
  return { perS: result.perS, cpuUs: eachUs(spentMs, result.done) };
}
