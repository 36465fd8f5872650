import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../core/sizes.mjs";
import { milliseconds, perSecond, Tally } from "../core/tally.mjs";
import { atLoad } from "../meter/at-load.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawFailOver } from "../raw/raw-fail-over.mjs";
import { killAndWatch } from "../rig/kill-and-watch.mjs";
import { System } from "../rig/system.mjs";
import { repeat } from "./bench.mjs";

const TASKS_PER_S = 2_000;
const ENV = { TASK_WORKERS: "50", OBSERVERS_DIR: "bench/mixed" };
/** Until the load is what it is to be. */
const SETTLE_MS = 3_000;

/** @type {import("./bench.mjs").Scenario} */
export const killBesideTasks = {
  id: "kill-beside-tasks",
  number: 12,
  title: `kill -9 of a full service, and the same beside ${counted(TASKS_PER_S)} tasks a second through it`,
  quickRuns: 2,
  measure,
};

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes } = bench;
  const count = sizes.crowd;
  const all = counted(count);
  const tally = new Tally("kill-beside-tasks", {
    "alone-running": milliseconds(`${all}, no tasks: all handlers running elsewhere (raw, without tasks: all redelivered)`),
    "alone-books": milliseconds(`${all}, no tasks: books right (raw: the same)`),
    "beside-running": milliseconds(`${all}, beside tasks: all handlers running elsewhere (raw: the same)`),
    "beside-books": milliseconds(`${all}, beside tasks: books right (raw: the same)`),
    "beside-tasks": { ...perSecond("tasks done meanwhile, from 3 s before the kill on"), isLoose: true },
  });
  const raw = await RawFailOver.open(rig, count);
  await repeat(bench, `the raw broker: kill -9 with ${count}`, async (run) => {
    const { allMs } = await raw.next(`raw-consumer-${run}`, killAndWatch, { isWarm: true });
    tally.raw({ "alone-running": allMs, "alone-books": allMs, "beside-running": allMs, "beside-books": allMs });
  });
  await raw.close();
  const system = await System.start(rig);
  let holder = await system.startService("alpha-0", count, ENV);
  await system.create(count);
  // As both have run for long: one that has just started would compile while it takes over.
  const startHeir = async (/** @type {string} */ name) => {
    const heir = await system.startService(name, count, ENV);
    await system.warmUp(heir, name, count);
    return heir;
  };
  const failOver = async (/** @type {Awaited<ReturnType<typeof startHeir>>} */ heir) => {
    const { pid } = holder;
    const { allMs, killedMs } = await killAndWatch(rig, holder, heir, count);
    holder = heir;
    return { running: allMs, books: (await system.books.untilMovedFrom(count, pid)) - killedMs };
  };
  await repeat(bench, `kill -9 with ${count}`, async (run) => {
    const alone = await failOver(await startHeir(`alone-${run}`));
    tally.ours({ "alone-running": alone.running, "alone-books": alone.books });
    const heir = await startHeir(`beside-${run}`);
    const before = await ended(system);
    const create = (/** @type {string[]} */ names) => system.createTasks("quiet", names);
    await atLoad(TASKS_PER_S, create, async () => {
      const beganMs = nowMs();
      await sleep(SETTLE_MS);
      const beside = await failOver(heir);
      const doneInAll = (await ended(system)) - before;
      const perS = (doneInAll * 1_000) / (nowMs() - beganMs);
      tally.ours({ "beside-running": beside.running, "beside-books": beside.books, "beside-tasks": perS });
    });
  });
  await system.close();
  return { figures: tally.figures };
}

/** @param {System} system */
async function ended(system) {
  const [row] = await system.books.query("SELECT count(*)::int AS count FROM ended_tasks WHERE status = 'Completed'");
  return Number(row?.count);
}
