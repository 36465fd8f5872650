import { setTimeout as sleep } from "node:timers/promises";
import { percentileOf } from "../core/statistics.mjs";
import { milliseconds, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { anyMoment, oneByOne } from "../meter/one-by-one.mjs";
import { measureOne } from "../peers/measure.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { System } from "../rig/system.mjs";
import { repeat } from "./bench.mjs";

const RATE_PER_S = 200;

/** One create: from the POST sent to the handler running. @type {import("./bench.mjs").Scenario} */
export const oneCreate = { id: "one-create", number: 2, title: "One create", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes, peers } = bench;
  const { onesAtRest, loadS } = sizes;
  const tally = new Tally("one-create", {
    "rest-p50": milliseconds("POST sent → handler running, at rest: p50 (raw: publish → delivered)"),
    "rest-p99": { ...milliseconds("POST sent → handler running, at rest: p99"), isLoose: true },
    // The raw broker takes half a millisecond of it, and whatever else the machine does comes on top of the rest.
    "load-p50": {
      ...milliseconds("POST sent → handler running, at 200 creates/s: p50 (raw: publish → delivered)"),
      isLoose: true,
    },
    "load-p99": { ...milliseconds("POST sent → handler running, at 200 creates/s: p99"), isLoose: true },
  });
  const raw = await RawBroker.open(rig);
  await raw.startConsumer("raw-consumer", 10_000);
  const system = await System.start(rig);
  await system.startService("alpha", 10_000);
  const sendRaw = async (/** @type {string} */ name) => {
    const [body] = startBodies(1);
    await raw.publishOne(/** @type {Buffer} */ (body), name);
  };
  const sendOurs = async (/** @type {string} */ name) => {
    const body = JSON.stringify({ ...system.observer({ params: { tellsName: true } }), name });
    await system.rest.expect(201, "POST", "/api/v1/observers", body);
  };
  await sendOurs("warm-up"); // the first call of a process compiles what the others use
  await repeat(bench, "one create", async (run) => {
    const rawRest = await oneByOne(rig, `raw-rest-${run}`, onesAtRest, sendRaw, anyMoment);
    tally.raw({ "rest-p50": percentileOf(rawRest, 50), "rest-p99": percentileOf(rawRest, 99) });
    const ownRest = await oneByOne(rig, `rest-${run}`, onesAtRest, sendOurs, anyMoment);
    tally.ours({ "rest-p50": percentileOf(ownRest, 50), "rest-p99": percentileOf(ownRest, 99) });
    const rawLoad = await atRate(rig, `raw-load-${run}`, RATE_PER_S * loadS, sendRaw);
    tally.raw({ "load-p50": percentileOf(rawLoad, 50), "load-p99": percentileOf(rawLoad, 99) });
    const ownLoad = await atRate(rig, `load-${run}`, RATE_PER_S * loadS, sendOurs);
    tally.ours({ "load-p50": percentileOf(ownLoad, 50), "load-p99": percentileOf(ownLoad, 99) });
    await raw.orderAcks(1);
    await system.stopAll();
  });
  await raw.close();
  await system.close();
  for (const peer of peers)
    await measureOne(bench, peer, onesAtRest, (who, p50, p99) => tally.peer(who, { "rest-p50": p50, "rest-p99": p99 }));
  return { figures: tally.figures };
}

/**
 * Sent by the clock, whether or not those before have been answered.
 *
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {string} prefix
 * @param {number} count
 * @param {(name: string) => Promise<void>} send
 * @returns {Promise<number[]>} how long each took, in ms
 */
async function atRate(rig, prefix, count, send) {
  const watch = rig.meter.watch();
  const beganMs = nowMs();
  /** @type {{ name: string, sentMs: number }[]} */
  const sent = [];
  const sending = [];
  while (sent.length < count) {
    const due = Math.min(count, Math.floor(((nowMs() - beganMs) * RATE_PER_S) / 1_000) + 1);
    while (sent.length < due) {
      const name = `${prefix}-${sent.length}`;
      sent.push({ name, sentMs: nowMs() });
      const one = send(name);
      one.catch(() => undefined); // told by Promise.all below
      sending.push(one);
    }
    await sleep(1);
  }
  await Promise.all(sending);
  await watch.until(() => watch.startedAtMs.size >= count, `${count} to run`);
  watch.end();
  return sent.map(({ name, sentMs }) => Number(watch.startedAtMs.get(name)) - sentMs);
}
