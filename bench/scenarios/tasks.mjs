import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../core/sizes.mjs";
import { percentileOf } from "../core/statistics.mjs";
import { milliseconds, perSecond, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { oneByOne } from "../meter/one-by-one.mjs";
import { measureDone } from "../peers/measure.mjs";
import { cpuSpent, partsOf, spentFigures, spentValues } from "../rig/cpu.mjs";
import { System } from "../rig/system.mjs";
import { waitUntil } from "../rig/wait-until.mjs";
import { repeat } from "./bench.mjs";

const SETTLE_MS = 1_000;
const BATCH = 1_000;
/** How many run at once; of the peers, too. */
const WORKERS = 100;

/** Tasks that do nothing: created, run, and over in the books. @type {import("./bench.mjs").Scenario} */
export const tasks = { id: "tasks", number: 11, title: "Tasks that do nothing", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { sizes, peers } = bench;
  const count = sizes.tasks;
  const all = `${counted(count)} tasks created in batches and done, ${WORKERS} at once`;
  const tally = new Tally("tasks", {
    done: perSecond(`${all}: from the first create to the last end in the books`),
    "rest-p50": milliseconds("one task at rest, from its POST to its handler: p50"),
    "rest-p99": milliseconds("one task at rest, from its POST to its handler: p99"),
    ...spentFigures(all),
  });
  await repeat(bench, all, async () => tally.ours(await doneOn(bench)));
  await repeat(bench, "one task at rest", async () => tally.ours(await atRest(bench)));
  for (const peer of peers)
    await measureDone(bench, peer, { count, concurrency: WORKERS }, (who, done) => tally.peer(who, { done }));
  return { figures: tally.figures };
}

/** @param {import("./bench.mjs").Bench} bench */
async function doneOn({ rig, sizes: { tasks: count } }) {
  const { system, service } = await start(rig);
  const bodies = Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) => {
    const size = Math.min(BATCH, count - batch * BATCH);
    const some = Array.from({ length: size }, (_, i) => ({ type: "noop", params: { name: `task-${batch * BATCH + i}` } }));
    return JSON.stringify({ tasks: some });
  });
  const { result: tookMs, spentMs } = await cpuSpent(partsOf(rig, system, service), async () => {
    const beganMs = nowMs();
    for (const body of bodies) await system.rest.expect(200, "POST", "/api/v1/tasks/batch", body);
    const overMs = await waitUntil("every task to be over", async () => {
      if ((await system.books.query("SELECT FROM tasks LIMIT 1")).length > 0) return false;
      const [row] = await system.books.query("SELECT count(*)::int AS count FROM ended_tasks WHERE status = 'Completed'");
      return row?.count === count;
    });
    return overMs - beganMs;
  });
  await system.close();
  return { done: (count * 1_000) / tookMs, ...spentValues(spentMs) };
}

/** @param {import("./bench.mjs").Bench} bench */
async function atRest({ rig, sizes }) {
  const { system } = await start(rig);
  const took = await oneByOne(rig, "task", sizes.atRest, async (name) => {
    const body = JSON.stringify({ type: "noop", params: { name, tellsName: true } });
    await system.rest.expect(201, "POST", "/api/v1/tasks", body);
  });
  await system.close();
  return { "rest-p50": percentileOf(took, 50), "rest-p99": percentileOf(took, 99) };
}

/** @param {import("../rig/rig.mjs").Rig} rig */
async function start(rig) {
  const system = await System.start(rig);
  const service = await system.startService("alpha", 1, { TASK_WORKERS: String(WORKERS), OBSERVERS_DIR: "bench/tasks" });
  await sleep(SETTLE_MS);
  return { system, service };
}
