import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { percentileOf } from "../core/statistics.mjs";
import { nowMs } from "../meter/clock.mjs";
import { MeterTimeout } from "../meter/meter.mjs";
import { anyMoment, oneByOne } from "../meter/one-by-one.mjs";
import { BATCH, sustained } from "../meter/sustained.mjs";
import { cpuSpent, eachUs, ownCpuMs, shareOfCore } from "../rig/cpu.mjs";
import { cpuMs, cpuMsWithChildren } from "../rig/proc.mjs";
import { waitUntil } from "../rig/wait-until.mjs";
import { commandCounter, PeerServer } from "./peer-server.mjs";

/** @typedef {import("../scenarios/bench.mjs").Bench} Bench */
/** @typedef {import("./peers.mjs").Peer} Peer */
/** @typedef {import("./peers.mjs").Setting} Setting */
/** @typedef {{ peer: string, setting: string, note?: string }} Who */

const SETTLE_MS = 1_000;

/**
 * From the first add to the last handler that runs.
 *
 * @param {Bench} bench
 * @param {Peer} peer
 * @param {number} count
 * @param {(who: Who, ms: number) => void} report
 */
export async function measureCreation(bench, peer, count, report) {
  await eachSetting(bench, peer, async (setting, place) => {
    await repeatInBudget(bench, `${peer.name}, ${setting.name}: ${count} jobs`, async () => {
      const { client, startWorker, end } = await place(setting);
      await startWorker(count);
      await sleep(SETTLE_MS);
      const watch = bench.rig.meter.watch();
      const beganMs = nowMs();
      await client.add(namesOf(count));
      await watch.untilStarted(count);
      watch.end();
      report(whoOf(peer, setting), watch.lastStartMs - beganMs);
      await end();
    });
  });
}

/**
 * Jobs that end at once, a second: from the first add to the last end.
 *
 * @param {Bench} bench
 * @param {Peer} peer
 * @param {{ count: number, concurrency: number, before?: () => Promise<void> }} much
 * @param {(who: Who, perS: number) => void} report
 */
export async function measureDone(bench, peer, { count, concurrency, before }, report) {
  await eachSetting(bench, peer, async (setting, place) => {
    await repeatInBudget(bench, `${peer.name}, ${setting.name}: ${count} jobs done`, async () => {
      await before?.();
      const { client, startWorker, end } = await place(setting);
      await startWorker(concurrency, "done");
      await sleep(SETTLE_MS);
      const watch = bench.rig.meter.watch();
      const names = namesOf(count);
      const beganMs = nowMs();
      for (let i = 0; i < count; i += BATCH) await client.add(names.slice(i, i + BATCH));
      await watch.untilStarted(count);
      watch.end();
      const overMs = await waitUntil(`every job of ${peer.name} to be over`, async () => (await client.left()) === 0);
      report({ peer: peer.name, setting: setting.name, note: setting.doneNote }, (count * 1_000) / (overMs - beganMs));
      await end();
    });
  });
}

/**
 * The same for so long, added as fast as they are done.
 *
 * @param {Bench} bench
 * @param {Peer} peer
 * @param {{ forMs: number, concurrency: number, before?: () => Promise<void> }} much
 * @param {(who: Who, perS: number, cpuUs: Record<"worker" | "server" | "adder", number>) => void} report `cpuUs`: of each job
 */
export async function measureSustained(bench, peer, { forMs, concurrency, before }, report) {
  await eachSetting(bench, peer, async (setting, place, server) => {
    await repeatInBudget(bench, `${peer.name}, ${setting.name}: jobs done for ${forMs / 1_000} s`, async () => {
      await before?.();
      const { client, startWorker, end } = await place(setting);
      const worker = await startWorker(concurrency, "done");
      await sleep(SETTLE_MS);
      const watch = bench.rig.meter.watch();
      const parts = {
        worker: () => cpuMs(worker.pid),
        server: () => cpuMsWithChildren(server.pid),
        adder: ownCpuMs,
      };
      const { result, spentMs } = await cpuSpent(parts, () =>
        sustained(forMs, { add: client.add, open: (added) => added - watch.started, left: client.left }),
      );
      watch.end();
      const who = { peer: peer.name, setting: setting.name, note: setting.doneNote };
      report(who, result.perS, eachUs(spentMs, result.done));
      await end();
    });
  });
}

/**
 * From the add to the handler that runs, at rest, each at any moment of a poll.
 *
 * @param {Bench} bench
 * @param {Peer} peer
 * @param {number} count
 * @param {(who: Who, p50Ms: number, p99Ms: number) => void} report
 */
export async function measureOne(bench, peer, count, report) {
  await eachSetting(bench, peer, async (setting, place) => {
    await repeatInBudget(bench, `${peer.name}, ${setting.name}: one job`, async (run) => {
      const { client, startWorker, end } = await place(setting);
      await startWorker(count, "one-by-one");
      await sleep(SETTLE_MS);
      const add = async (/** @type {string} */ name) => void (await client.add([name]));
      const took = await oneByOne(bench.rig, `peer-${run}`, count, add, anyMoment);
      report(whoOf(peer, setting), percentileOf(took, 50), percentileOf(took, 99));
      await end();
    });
  });
}

/**
 * From kill -9 of a worker to the first and the last of its jobs that runs on another, at any moment of the other's round.
 *
 * @param {Bench} bench
 * @param {Peer} peer
 * @param {number} count
 * @param {{ back: (who: Who, firstMs: number, allMs: number) => void, inVain: (who: Who, ms: number) => void,
 *   early: (who: Who, count: number) => void }} report `early`: so many ran on the other while their worker still lived
 */
export async function measureKill(bench, peer, count, { back, inVain, early }) {
  await eachSetting(bench, peer, async (setting, place) => {
    const who = { ...whoOf(peer, setting), note: setting.killNote ?? setting.note };
    const patienceMs = bench.sizes.patienceS * 1_000;
    const run = async () => {
      const { client, startWorker, end } = await place(setting);
      const holder = await startWorker(count);
      const before = bench.rig.meter.watch();
      await client.add(namesOf(count));
      await before.untilStarted(count);
      before.end();
      const heir = await startWorker(count);
      const watch = bench.rig.meter.watch([heir.pid]);
      await sleep(SETTLE_MS + Math.random() * (setting.sweepMs ?? 0));
      if (watch.started > 0) early(who, watch.started);
      const sinceKill = bench.rig.meter.watch([heir.pid]);
      const killedMs = holder.signal("SIGKILL");
      await client.afterKill?.();
      try {
        await watch.untilStarted(count, patienceMs);
        if (sinceKill.started > 0) back(who, sinceKill.firstStartMs - killedMs, watch.lastStartMs - killedMs);
      } catch (error) {
        if (!(error instanceof MeterTimeout)) throw error;
        inVain(who, patienceMs);
        return "enough";
      } finally {
        watch.end();
        sinceKill.end();
        await end();
      }
    };
    const what = `${peer.name}, ${setting.name}: kill -9 with ${count}`;
    await repeatInBudget(bench, what, run, bench.sizes.peerKillBudgetS);
  });
}

/**
 * What 10,000 jobs cost that run and do nothing.
 *
 * @param {Bench} bench
 * @param {Peer} peer
 * @param {number} count
 * @param {number} windowMs
 * @param {(who: Who, commandsPerS: number, workerPercent: number, serverPercent: number) => void} report
 */
export async function measureIdle(bench, peer, count, windowMs, report) {
  await eachSetting(bench, peer, async (setting, place, server) => {
    const { client, url, startWorker, end } = await place(setting);
    const worker = await startWorker(count);
    const watch = bench.rig.meter.watch();
    await client.add(namesOf(count));
    await watch.untilStarted(count);
    watch.end();
    await sleep(5 * SETTLE_MS);
    const counter = await commandCounter(bench.rig, peer, url);
    await repeatInBudget(bench, `${peer.name}, ${setting.name}: idle with ${count}`, async () => {
      const before = await counter.look();
      const shares = await shareOfCore(windowMs, {
        worker: () => cpuMs(worker.pid),
        server: () => cpuMsWithChildren(server.pid),
      });
      const perS = (((await counter.look()) - before) * 1_000) / windowMs;
      report(whoOf(peer, setting), perS, shares.worker, shares.server);
    });
    await counter.close();
    await end();
  });
}

/**
 * Calls `work` for each setting, with a way to have an empty place on the peer's server.
 *
 * @param {Bench} bench
 * @param {Peer} peer
 * @param {(setting: Setting, place: (setting: Setting) => ReturnType<typeof emptyPlace>, server: PeerServer) => Promise<void>} work
 */
async function eachSetting(bench, peer, work) {
  const server = await PeerServer.start(bench.rig, peer);
  try {
    for (const setting of peer.settings) {
      try {
        await work(setting, (one) => emptyPlace(bench, peer, server, one), server);
      } catch (error) {
        // What has been measured of Unacked by now is worth more than this.
        bench.say(`${peer.name}, ${setting.name} is left out here: ${/** @type {Error} */ (error).message}`);
        await bench.rig.programs.endAll();
      }
    }
  } finally {
    await server.stop();
  }
}

/**
 * @param {Bench} bench
 * @param {Peer} peer
 * @param {PeerServer} server
 * @param {Setting} setting
 */
async function emptyPlace({ rig }, peer, server, setting) {
  const url = await server.freshUrl();
  const queue = `bench-${randomBytes(4).toString("hex")}`;
  const client = await peer.open(url, queue, setting.name);
  const startWorker = (/** @type {number} */ concurrency, /** @type {string[]} */ ...how) =>
    rig.programs.start(peer.module, {
      file: "bench/peers/worker.mjs",
      args: [peer.module, queue, setting.name, String(concurrency), ...how],
      env: { ...rig.env, PEER_URL: url, NODE_ENV: "production" },
    });
  const end = async () => {
    await rig.programs.endAll();
    await client.close();
  };
  return { url, client, startWorker, end };
}

/**
 * As often as Unacked is measured, but not beyond the budget: some wait for minutes. How often it was stands beside the figure.
 *
 * @param {Bench} bench
 * @param {string} what
 * @param {(run: number) => Promise<void | "enough">} work
 * @param {number} [budgetS]
 */
async function repeatInBudget({ runs, sizes, say }, what, work, budgetS = sizes.peerBudgetS) {
  const beganMs = nowMs();
  for (let run = 1; run <= runs; run += 1) {
    say(`${what}: run ${run}`);
    if ((await work(run)) === "enough") return;
    const spentMs = nowMs() - beganMs;
    if (spentMs + spentMs / run > budgetS * 1_000) return;
  }
}

/** @param {Peer} peer @param {Setting} setting */
const whoOf = ({ name }, { name: setting, note }) => ({ peer: name, setting, note });

/** @param {number} count */
const namesOf = (count) => Array.from({ length: count }, (_, index) => `job-${index}`);
