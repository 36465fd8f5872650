import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "../meter/clock.mjs";
import { BATCH } from "../meter/sustained.mjs";
import { cpuSpent, partsOf, spentValues } from "../rig/cpu.mjs";
import { System } from "../rig/system.mjs";
import { waitUntil } from "../rig/wait-until.mjs";

/** How many tasks run at once, in one service; of the peers, too. */
export const WORKERS = 100;
const SETTLE_MS = 1_000;

/** @param {import("../rig/rig.mjs").Rig} rig @param {number} [workers] */
export async function startTasks(rig, workers = WORKERS) {
  const system = await System.start(rig);
  const service = await system.startService("alpha", 1, { TASK_WORKERS: String(workers), OBSERVERS_DIR: "bench/tasks" });
  await sleep(SETTLE_MS);
  return { system, service };
}

/**
 * So many created in batches and done, on a system of their own.
 *
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {string} type
 * @param {number} count
 * @param {{ limits?: object, workers?: number }} [of] `limits`: of the type
 */
export async function doneOn(rig, type, count, { limits, workers } = {}) {
  const { system, service } = await startTasks(rig, workers);
  if (limits !== undefined) await system.rest.expect(200, "PATCH", `/api/v1/task-types/${type}`, JSON.stringify(limits));
  const names = Array.from({ length: count }, (_, i) => `task-${i}`);
  const { result: tookMs, spentMs } = await cpuSpent(partsOf(rig, system, service), async () => {
    const beganMs = nowMs();
    let last = "";
    for (let i = 0; i < count; i += BATCH) last = await system.createTasks(type, names.slice(i, i + BATCH));
    const isOver = async () => {
      // By its key, first: a look for any task goes past all that was deleted since the last vacuum, up to 14 ms.
      if ((await system.books.query("SELECT FROM tasks WHERE id = $1", [last])).length > 0) return false;
      if ((await system.books.query("SELECT FROM tasks LIMIT 1")).length > 0) return false;
      const [row] = await system.books.query("SELECT count(*)::int AS count FROM ended_tasks WHERE status = 'Completed'");
      return row?.count === count;
    };
    const overMs = await waitUntil("every task to be over", isOver, { everyMs: 20 });
    return overMs - beganMs;
  });
  await system.close();
  return { done: (count * 1_000) / tookMs, ...spentValues(spentMs) };
}

/** Tasks that do nothing, for `sustained`. @param {System} system @param {string} [type] */
export function noopsOf(system, type = "noop") {
  /** Of each batch the last: those of it before are over by then, or nearly. @type {string[]} */
  let lasts = [];
  return {
    add: async (/** @type {string[]} */ names) => void lasts.push(await system.createTasks(type, names)),
    open: async () => {
      const rows = await system.books.query("SELECT id FROM tasks WHERE id = ANY($1)", [lasts]);
      lasts = rows.map(({ id }) => id);
      return lasts.length * BATCH;
    },
    left: async () => Number((await system.books.query("SELECT count(*)::int AS count FROM tasks"))[0]?.count),
  };
}
