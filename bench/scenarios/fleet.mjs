import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../core/sizes.mjs";
import { Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { shareOfCore } from "../rig/cpu.mjs";
import { cpuMs, cpuMsWithChildren, pssBytesWithChildren } from "../rig/proc.mjs";
import { System } from "../rig/system.mjs";
import { atOnce } from "./bench.mjs";

const [KB, MB] = [1_024, 1_048_576];
/** Services that are started at once: more would only wait for each other. */
const STARTING = 4;
const SETTLE_MS = 3_000;
/** For so long is waited for each observer, and for a fleet to come to rest: a hundred services on a small machine take minutes. */
const PATIENCE_MS = { each: 10, all: 120_000 };
/**
 * In seconds. The broker, the database and all services share one machine here, which is busy for longer than the default lease (15 s of 10)
 * when ten of twenty services die with half of 100,000 observers: those that live would lose theirs, too.
 */
const HEARTBEAT_S = "30";
const patienceMs = (/** @type {number} */ count) => PATIENCE_MS.all + PATIENCE_MS.each * count;

/**
 * Many services and observers, two managers: what an observer costs as they grow, with slots and without.
 *
 * @type {import("./bench.mjs").Scenario}
 */
export const fleet = {
  id: "fleet",
  number: 13,
  title: "A fleet: twenty services with slots, a hundred without (SLOTS=0), two managers",
  quickRuns: 1,
  measure,
  beside: "a hundred, SLOTS=0",
};

/** @typedef {import("../rig/programs.mjs").Program} Program */
/** @typedef {{ system: System, second: Program, services: Map<string, Program>, workers: number, env: Record<string, string>, before: number }} Fleet */

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { sizes } = bench;
  const points = sizes.fleetCrowds;
  const less = /** @type {const} */ ("less");
  const each = (/** @type {string} */ what, /** @type {string} */ unit, /** @type {string} */ key) =>
    points.map(
      (count) => /** @type {const} */ ([`${key}-${count}`, { title: `${counted(count)}: ${what}`, unit, better: less }]),
    );
  const about = Object.fromEntries([
    ["idle-0", { title: "no observers: CPU of all, of a core", unit: "%", better: less }],
    ["memory-0", { title: "no observers: memory (PSS) of a service, its slots included", unit: "MB", better: less }],
    ...each("creates → all running, for each 1,000", "ms", "created"),
    ...each("ten services killed at once → all of theirs running elsewhere, for each 1,000 of them", "ms", "running"),
    ...each("ten services killed at once → books right, for each 1,000 of theirs", "ms", "books"),
    ...each("CPU of all while nothing happens beyond that without observers, of a core, for each 1,000", "%", "idle"),
    ...each("memory (PSS) of the services for each observer", "KB", "memory"),
    ...each("a third manager's start, until it is ready", "ms", "manager"),
  ]);
  const tally = new Tally("fleet", about);
  tally.ours(await curve(bench, sizes.fleetServices, { HEARTBEAT_S }));
  tally.raw(await curve(bench, 5 * sizes.fleetServices, { HEARTBEAT_S, SLOTS: "0" }));
  return { figures: tally.figures };
}

/** One fleet, which grows. @param {import("./bench.mjs").Bench} bench @param {number} count @param {Record<string, string>} env */
async function curve({ rig, sizes, say }, count, env) {
  const largest = Math.max(...sizes.fleetCrowds);
  const system = await System.start(rig);
  const second = await system.startManager("manager-2");
  /** @type {Fleet} */
  const all = { system, second, services: new Map(), workers: Math.ceil((2 * largest) / (count - 10)), env, before: 0 };
  say(`${count} services: they start`);
  await startServices(
    all,
    Array.from({ length: count }, (_, index) => `service-${index}`),
  );
  await sleep(sizes.settleS * 1_000);
  const idleMs = (sizes.idleS * 1_000) / 4;
  all.before = memoryOf(all);
  /** @type {Record<string, number>} */
  const values = { "idle-0": await cpuOfAll(rig, all, idleMs), "memory-0": all.before / count / MB };
  let running = 0;
  for (const crowd of sizes.fleetCrowds) {
    say(`${count} services: ${counted(crowd)} observers`);
    const created = await create(rig, all, crowd - running);
    running = crowd;
    await sleep(SETTLE_MS);
    values[`created-${crowd}`] = created;
    values[`idle-${crowd}`] = (((await cpuOfAll(rig, all, idleMs)) - Number(values["idle-0"])) * 1_000) / crowd;
    values[`memory-${crowd}`] = (memoryOf(all) - all.before) / crowd / KB;
    values[`manager-${crowd}`] = await startOfManager(all);
    const { runningMs, booksMs } = await killTen(rig, all, crowd);
    values[`running-${crowd}`] = runningMs;
    values[`books-${crowd}`] = booksMs;
    const found = Object.entries(values).filter(([key]) => key.endsWith(`-${crowd}`));
    say(found.map(([key, value]) => `${key} ${value.toFixed(1)}`).join(", ")); // what is longer than a coffee is told as it comes
  }
  await system.close();
  return values;
}

/** @param {Fleet} all @param {string[]} names */
async function startServices({ system, services, workers, env }, names) {
  await atOnce(names.length, STARTING, async (index) => {
    const name = String(names[index]);
    services.set(name, await system.startService(name, workers, env));
  });
}

/** In ms for each 1,000. @param {import("../rig/rig.mjs").Rig} rig @param {Fleet} all @param {number} count */
async function create(rig, { system }, count) {
  const watch = rig.meter.watch();
  const before = await system.books.count("Processing");
  const bodies = system.batchBodies(count);
  const beganMs = nowMs();
  for (const body of bodies) await system.rest.createMany("observers", body);
  await watch.untilStarted(count, patienceMs(count));
  watch.end();
  await system.books.until("Processing", before + count, ["Created"], patienceMs(count));
  return ((watch.lastStartMs - beganMs) * 1_000) / count;
}

/** Ten come in their place, once it is over. @param {import("../rig/rig.mjs").Rig} rig @param {Fleet} all @param {number} crowd */
async function killTen(rig, all, crowd) {
  const { system, services } = all;
  const names = [...services.keys()].slice(0, 10);
  const dead = names.map((name) => /** @type {Program} */ (services.get(name)));
  const pids = dead.map(({ pid }) => pid);
  const [row] = await system.books.query(
    "SELECT count(*)::int AS count FROM observers WHERE current_service_id IN (SELECT id FROM services WHERE pid = ANY($1))",
    [pids],
  );
  const moved = Math.max(1, Number(row?.count));
  const watch = rig.meter.watch();
  const killedMs = Math.min(...dead.map((service) => service.signal("SIGKILL")));
  await watch.untilStarted(moved, patienceMs(moved));
  watch.end();
  const booksAtMs = await system.books.untilMovedFromAll(crowd, pids, patienceMs(crowd));
  for (const name of names) services.delete(name);
  await startServices(all, names);
  const thousands = moved / 1_000;
  return { runningMs: (watch.lastStartMs - killedMs) / thousands, booksMs: (booksAtMs - killedMs) / thousands };
}

/** Of the ms until it answers that it is ready. @param {Fleet} all */
async function startOfManager({ system }) {
  const beganMs = nowMs();
  const third = await system.startManager("manager-3");
  const tookMs = nowMs() - beganMs;
  await third.end();
  return tookMs;
}

/** @param {Fleet} all */
const memoryOf = ({ services }) => [...services.values()].reduce((sum, { pid }) => sum + pssBytesWithChildren(pid), 0);

/** Of a core, in percent. @param {import("../rig/rig.mjs").Rig} rig @param {Fleet} all @param {number} windowMs */
async function cpuOfAll(rig, { system, second, services }, windowMs) {
  const pids = [...services.values()].map(({ pid }) => pid);
  const { all } = await shareOfCore(windowMs, {
    all: () =>
      [system.manager.pid, second.pid, rig.broker.pid].reduce((sum, pid) => sum + cpuMs(pid), 0) +
      [rig.database.pid, ...pids].reduce((sum, pid) => sum + cpuMsWithChildren(pid), 0),
  });
  return all;
}
