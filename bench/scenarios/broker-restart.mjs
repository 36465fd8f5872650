import { connect } from "node:net";
import { counted } from "../core/sizes.mjs";
import { milliseconds, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { System } from "../rig/system.mjs";
import { waitUntil } from "../rig/wait-until.mjs";
import { repeat } from "./bench.mjs";

/** The broker is killed with -9 under all that runs, and started again. @type {import("./bench.mjs").Scenario} */
export const brokerRestart = {
  id: "broker-restart",
  number: 6,
  title: "Broker restart with 10,000",
  quickRuns: 1,
  measure,
};

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig } = bench;
  const { crowd } = bench.sizes;
  const all = counted(crowd);
  const tally = new Tally("broker-restart", {
    boot: { ...milliseconds("broker started → it takes connections"), isLoose: true },
    "after-boot": {
      ...milliseconds(`it takes connections → ${all} handlers running again (raw: redelivered)`),
      isLoose: true,
    },
    running: milliseconds(`broker started → ${all} handlers running again (raw: redelivered)`),
    books: milliseconds(`broker started → ${all} right in the books (raw: redelivered)`),
  });
  // One after the other: what one has in the broker makes the other's boot longer.
  const raw = await RawBroker.open(rig);
  await raw.startConsumer("raw-consumer", crowd);
  await raw.publish(startBodies(crowd));
  await repeat(bench, "broker restart, raw", async () => {
    const { bootMs, runningMs } = await restartAndWatch(rig, crowd);
    tally.raw({ boot: bootMs, "after-boot": runningMs - bootMs, running: runningMs, books: runningMs });
    await raw.reopen();
  });
  await raw.orderAcks(crowd);
  await raw.close();
  await rig.programs.endAll();

  const system = await System.start(rig);
  await system.startService("alpha", crowd);
  await system.create(crowd);
  await repeat(bench, "broker restart", async () => {
    const [{ epoch = 0 } = {}] = await system.books.query("SELECT max(epoch) AS epoch FROM observers");
    const { beganMs, bootMs, runningMs } = await restartAndWatch(rig, crowd);
    const booksMs = (await untilNewRuns(system, epoch)) - beganMs;
    tally.ours({ boot: bootMs, "after-boot": runningMs - bootMs, running: runningMs, books: booksMs });
  });
  await system.close();
  return { figures: tally.figures };
}

/** @param {import("../rig/rig.mjs").Rig} rig @param {number} count */
async function restartAndWatch(rig, count) {
  await rig.broker.kill();
  const watch = rig.meter.watch();
  const beganMs = nowMs();
  const started = rig.broker.start();
  const upMs = await waitUntil("the broker to take connections", () => takesConnections(rig.broker.port));
  await Promise.all([started, watch.untilStarted(count)]);
  watch.end();
  if (watch.started !== count) throw new Error(`${watch.started} handlers started instead of ${count}`);
  return { beganMs, bootMs: upMs - beganMs, runningMs: watch.lastStartMs - beganMs };
}

/** @param {System} system @param {number} epoch of the runs before */
function untilNewRuns(system, epoch) {
  const sql = "SELECT FROM observers WHERE status <> 'Processing' OR epoch <= $1 LIMIT 1";
  return waitUntil("all new runs in the books", async () => (await system.books.query(sql, [epoch])).length === 0, {
    everyMs: 20,
  });
}

/** @param {number} port @returns {Promise<boolean>} */
function takesConnections(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
