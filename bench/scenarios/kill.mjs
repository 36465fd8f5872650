import { counted } from "../core/sizes.mjs";
import { milliseconds, Tally } from "../core/tally.mjs";
import { measureKill } from "../peers/measure.mjs";
import { RawFailOver } from "../raw/raw-fail-over.mjs";
import { cpuSpent, partsOf, spentFigures, spentValues } from "../rig/cpu.mjs";
import { killAndWatch } from "../rig/kill-and-watch.mjs";
import { System } from "../rig/system.mjs";
import { repeat } from "./bench.mjs";

/** A full service is killed with -9 while another has as many free workers. @type {import("./bench.mjs").Scenario} */
export const kill = { id: "kill", number: 3, title: "kill -9 of a full service", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { crowd, few } = bench.sizes;
  const [all, less] = [counted(crowd), counted(few)];
  const tally = new Tally("kill", {
    "10000-first": { ...milliseconds(`${all}: first handler running elsewhere (raw: first redelivered)`), isLoose: true },
    "10000-running": milliseconds(`${all}: all handlers running elsewhere (raw: all redelivered)`),
    "10000-books": milliseconds(`${all}: books right (raw: all redelivered)`),
    ...spentFigures(`kill -9 with ${all}`),
    "warm-first": {
      ...milliseconds(`${all}, to one that has run as many before: first handler running elsewhere`),
      isLoose: true,
    },
    "warm-running": milliseconds(`${all}, to one that has run as many before: all handlers running elsewhere`),
    "warm-books": milliseconds(`${all}, to one that has run as many before: books right`),
    "1000-first": { ...milliseconds(`${less}: first handler running elsewhere (raw: first redelivered)`), isLoose: true },
    "1000-running": { ...milliseconds(`${less}: all handlers running elsewhere (raw: all redelivered)`), isLoose: true },
    "1000-books": { ...milliseconds(`${less}: books right (raw: all redelivered)`), isLoose: true },
  });
  await measureCount(bench, crowd, "10000", tally);
  await measureCount(bench, crowd, "warm", tally);
  if (few > 0) await measureCount(bench, few, "1000", tally);
  /** @type {Set<string>} */
  const notes = new Set();
  for (const peer of bench.peers)
    await measureKill(bench, peer, crowd, {
      back: (who, firstMs, allMs) => tally.peer(who, { "10000-first": firstMs, "10000-running": allMs }),
      early: ({ peer: name, setting }, count) =>
        notes.add(
          `${name}, ${setting}: ${counted(count)} jobs ran on the second worker as well before the first was killed.`,
        ),
      inVain: (who, ms) => tally.peerInVain(who, { "10000-first": ms, "10000-running": ms }),
    });
  return { figures: tally.figures, notes: [...notes] };
}

/**
 * @param {import("./bench.mjs").Bench} bench
 * @param {number} count
 * @param {"10000" | "warm" | "1000"} id what its figures are named for; warm: the heir has run as many before
 * @param {Tally<string>} tally
 */
async function measureCount(bench, count, id, tally) {
  const { rig } = bench;
  const raw = await RawFailOver.open(rig, count);
  const system = await System.start(rig);
  let holder = await system.startService("alpha-0", count);
  await system.create(count);

  await repeat(bench, `kill -9 with ${count}`, async (run) => {
    const rawTimes = await raw.next(`raw-consumer-${run}`, killAndWatch, { isWarm: id === "warm" });
    tally.raw({
      [`${id}-first`]: rawTimes.firstMs,
      [`${id}-running`]: rawTimes.allMs,
      [`${id}-books`]: rawTimes.allMs,
    });
    const heir = await system.startService(`alpha-${run}`, count);
    if (id === "warm") await system.warmUp(heir, `alpha-${run}`, count);
    const { pid } = holder;
    const { result, spentMs } = await cpuSpent(partsOf(rig, system, heir), async () => {
      const times = await killAndWatch(rig, holder, heir, count);
      return { ...times, booksMs: (await system.books.untilMovedFrom(count, pid)) - times.killedMs };
    });
    const { firstMs, allMs, booksMs } = result;
    if (id === "10000") tally.ours(spentValues(spentMs));
    holder = heir;
    tally.ours({ [`${id}-first`]: firstMs, [`${id}-running`]: allMs, [`${id}-books`]: booksMs });
  });
  await raw.close();
  await system.close();
}
