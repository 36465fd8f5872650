import { counted } from "../core/sizes.mjs";
import { percentileOf } from "../core/statistics.mjs";
import { milliseconds, perSecond, Tally } from "../core/tally.mjs";
import { atLoad } from "../meter/at-load.mjs";
import { nowMs } from "../meter/clock.mjs";
import { oneByOne } from "../meter/one-by-one.mjs";
import { sustained } from "../meter/sustained.mjs";
import { measureDone, measureSustained } from "../peers/measure.mjs";
import { spentFigures } from "../rig/cpu.mjs";
import { repeat } from "./bench.mjs";
import { doneOn, noopsOf, startTasks, WORKERS } from "./tasks-done.mjs";

/** @typedef {import("../rig/system.mjs").System} System */

/** So many rows of the past are written at once. */
const PAST_ROWS = 250_000;

/** Tasks that do nothing: created, run, and over in the books. @type {import("./bench.mjs").Scenario} */
export const tasks = { id: "tasks", number: 11, title: "Tasks that do nothing", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes, peers } = bench;
  const { tasks: count, sustainedS, ended, singles, atRest } = sizes;
  const all = `${counted(count)} tasks created in batches and done, ${WORKERS} at once`;
  const forLong = `created as fast as they are done, for ${sustainedS} s`;
  const tally = new Tally("tasks", {
    done: perSecond(`${all}: from the first create to the last end in the books`),
    sustained: perSecond(`${forLong}: done`),
    past: { ...perSecond(`the same after ${counted(ended)} ended ones: done`), isLoose: true },
    many: perSecond(`${counted(count)} of a type that takes batches of 100: done`),
    singles: perSecond(`${counted(singles)} POSTs of one task, one after the other: created`),
    "rest-p50": milliseconds("one task at rest, from its POST to its handler: p50"),
    "rest-p99": milliseconds("one task at rest, from its POST to its handler: p99"),
    "half-p50": { ...milliseconds("one task at half of what is sustained: p50"), isLoose: true },
    "half-p99": { ...milliseconds("one task at half of what is sustained: p99"), isLoose: true },
    ...spentFigures(all),
  });
  /** @type {string[]} */
  const notes = [];
  await repeat(bench, all, async () => tally.ours(await doneOn(rig, "noop", count)));
  await repeat(bench, "in batches of 100", async () => tally.ours({ many: (await doneOn(rig, "noop-many", count)).done }));
  await repeat(bench, "one task at rest", async () => {
    const { system } = await startTasks(rig);
    const took = await latencies(rig, system, atRest);
    tally.ours({ "rest-p50": percentileOf(took, 50), "rest-p99": percentileOf(took, 99) });
    tally.ours({ singles: await createdOneByOne(system, singles) });
    await system.close();
  });
  bench.say(forLong);
  const { system } = await startTasks(rig);
  const { perS } = await sustained(sustainedS * 1_000, noopsOf(system));
  tally.ours({ sustained: perS });
  bench.say("one task at half load");
  const took = await atLoad(
    perS / 2,
    (names) => system.createTasks("noop", names),
    () => latencies(rig, system, atRest),
  );
  tally.ours({ "half-p50": percentileOf(took, 50), "half-p99": percentileOf(took, 99) });
  bench.say(`after ${counted(ended)} ended tasks`);
  await writePast(system, ended);
  const { perS: past } = await sustained(sustainedS * 1_000, noopsOf(system));
  tally.ours({ past });
  notes.push(`the live table after ${counted(ended)} ended tasks and all of these: ${await sizeOfLive(system)}`);
  await system.close();
  const alike = { concurrency: WORKERS, before: () => rig.dropDatabases() };
  for (const peer of peers) {
    await measureDone(bench, peer, { ...alike, count }, (who, done) => tally.peer(who, { done }));
    await measureSustained(bench, peer, { ...alike, forMs: sustainedS * 1_000 }, (who, peerPerS) =>
      tally.peer(who, { sustained: peerPerS }),
    );
  }
  return { figures: tally.figures, notes };
}

/** @param {import("../rig/rig.mjs").Rig} rig @param {System} system @param {number} count */
function latencies(rig, system, count) {
  return oneByOne(rig, "one", count, async (name) => {
    const body = JSON.stringify({ type: "noop", params: { name, tellsName: true } });
    await system.rest.expect(201, "POST", "/api/v1/tasks", body);
  });
}

/** @param {System} system @param {number} count */
async function createdOneByOne(system, count) {
  const beganMs = nowMs();
  for (let i = 0; i < count; i += 1) {
    const body = JSON.stringify({ type: "noop", params: { name: `single-${i}` } });
    await system.rest.expect(201, "POST", "/api/v1/tasks", body);
  }
  return (count * 1_000) / (nowMs() - beganMs);
}

/** Written past the manager, as to run so many takes a quarter of an hour. @param {System} system @param {number} count */
async function writePast(system, count) {
  for (let written = 0; written < count; written += PAST_ROWS) {
    const sql = `INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, created_at, ended_at)
      SELECT gen_random_uuid(), 'noop', '{"name": "past"}', 'default', 0, 'Completed', now(), 0, 0, 0, 1, now(), now() FROM generate_series(1, $1)`;
    await system.books.query(sql, [Math.min(PAST_ROWS, count - written)]);
  }
  await system.books.query("VACUUM ANALYZE ended_tasks");
  await system.books.query("CHECKPOINT");
}

/** @param {System} system */
async function sizeOfLive(system) {
  const [row] = await system.books.query("SELECT pg_size_pretty(pg_total_relation_size('tasks')) AS size");
  return String(row?.size);
}
