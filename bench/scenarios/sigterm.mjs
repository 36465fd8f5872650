import { setTimeout as sleep } from "node:timers/promises";
import { milliseconds, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { System } from "../rig/system.mjs";
import { COUNT, repeat } from "./bench.mjs";

const SETTLE_MS = 500;

/** A deploy: a full service is told to end, and gives back all that it runs. @type {import("./bench.mjs").Scenario} */
export const sigterm = { id: "sigterm", number: 5, title: "SIGTERM of a full service", isQuick: true, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig } = bench;
  const tally = new Tally("sigterm", {
    running: milliseconds("10,000 running elsewhere (raw: nacked, and redelivered)"),
    exited: milliseconds("the process has ended (raw: likewise)"),
    books: milliseconds("10,000 right in the books (raw: redelivered)"),
  });
  const raw = await RawBroker.open(rig);
  let rawHolder = await raw.startConsumer("raw-consumer-0", COUNT);
  const delivered = rig.meter.watch();
  await raw.publish(startBodies(COUNT));
  await delivered.untilStarted(COUNT);
  delivered.end();
  const system = await System.start(rig);
  let holder = await system.startService("alpha-0", COUNT);
  await system.create(COUNT);

  await repeat(bench, "SIGTERM with 10,000", async (run) => {
    const rawHeir = await raw.startConsumer(`raw-consumer-${run}`, COUNT);
    const rawTimes = await endAndWatch(rig, rawHolder, rawHeir);
    rawHolder = rawHeir;
    tally.raw({ running: rawTimes.runningMs, exited: rawTimes.exitedMs, books: rawTimes.runningMs });
    const heir = await system.startService(`alpha-${run}`, COUNT);
    const { pid } = holder;
    const { toldMs, runningMs, exitedMs } = await endAndWatch(rig, holder, heir);
    const booksMs = (await system.books.untilMovedFrom(COUNT, pid)) - toldMs;
    holder = heir;
    tally.ours({ running: runningMs, exited: exitedMs, books: booksMs });
  });
  await raw.close();
  await system.close();
  return { figures: tally.figures };
}

/**
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {import("../rig/programs.mjs").Program} holder
 * @param {import("../rig/programs.mjs").Program} heir
 */
async function endAndWatch(rig, holder, heir) {
  await sleep(SETTLE_MS);
  const watch = rig.meter.watch([heir.pid]);
  const toldMs = holder.signal("SIGTERM");
  const [exitedMs] = await Promise.all([holder.exited.then(() => nowMs() - toldMs), watch.untilStarted(COUNT)]);
  watch.end();
  if (watch.started !== COUNT) throw new Error(`${watch.started} handlers started instead of ${COUNT}`);
  return { toldMs, exitedMs, runningMs: watch.lastStartMs - toldMs };
}
