import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../core/sizes.mjs";
import { milliseconds, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawFailOver } from "../raw/raw-fail-over.mjs";
import { cpuSpent, partsOf, spentFigures, spentValues } from "../rig/cpu.mjs";
import { System } from "../rig/system.mjs";
import { repeat } from "./bench.mjs";

const SETTLE_MS = 500;

/** A deploy: a full service is told to end, and gives back all that it runs. @type {import("./bench.mjs").Scenario} */
export const sigterm = { id: "sigterm", number: 5, title: "SIGTERM of a full service", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig } = bench;
  const { crowd } = bench.sizes;
  const all = counted(crowd);
  const tally = new Tally("sigterm", {
    running: milliseconds(`${all} running elsewhere (raw: nacked, and redelivered)`),
    exited: { ...milliseconds("the process has ended (raw: likewise)"), isLoose: true },
    books: milliseconds(`${all} right in the books (raw: redelivered)`),
    ...spentFigures(`SIGTERM with ${all}`),
  });
  const raw = await RawFailOver.open(rig, crowd);
  const system = await System.start(rig);
  let holder = await system.startService("alpha-0", crowd);
  await system.create(crowd);

  await repeat(bench, `SIGTERM with ${all}`, async (run) => {
    const rawTimes = await raw.next(`raw-consumer-${run}`, endAndWatch);
    tally.raw({ running: rawTimes.runningMs, exited: rawTimes.exitedMs, books: rawTimes.runningMs });
    const heir = await system.startService(`alpha-${run}`, crowd);
    const { pid } = holder;
    const { result, spentMs } = await cpuSpent(partsOf(rig, system, heir), async () => {
      const times = await endAndWatch(rig, holder, heir, crowd);
      return { ...times, booksMs: (await system.books.untilMovedFrom(crowd, pid)) - times.toldMs };
    });
    holder = heir;
    tally.ours({ running: result.runningMs, exited: result.exitedMs, books: result.booksMs, ...spentValues(spentMs) });
  });
  await raw.close();
  await system.close();
  return { figures: tally.figures };
}

/**
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {import("../rig/programs.mjs").Program} holder
 * @param {import("../rig/programs.mjs").Program} heir
 * @param {number} count
 */
async function endAndWatch(rig, holder, heir, count) {
  await sleep(SETTLE_MS);
  const watch = rig.meter.watch([heir.pid]);
  const toldMs = holder.signal("SIGTERM");
  const [exitedMs] = await Promise.all([holder.exited.then(() => nowMs() - toldMs), watch.untilStarted(count)]);
  watch.end();
  if (watch.started !== count) throw new Error(`${watch.started} handlers started instead of ${count}`);
  return { toldMs, exitedMs, runningMs: watch.lastStartMs - toldMs };
}
