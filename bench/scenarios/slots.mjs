import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../core/sizes.mjs";
import { milliseconds, perSecond, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { shareOfCore } from "../rig/cpu.mjs";
import { cpuMsWithChildren, pssBytes, pssBytesWithChildren } from "../rig/proc.mjs";
import { measureSlotStart } from "../rig/slot-start.mjs";
import { System } from "../rig/system.mjs";
import { repeat } from "./bench.mjs";

const SETTLE_MS = 1_000;
const EMITTING = 200;
const EMIT_MS = 3_000;
const [KB, MB] = [1_024, 1_048_576];

/**
 * The same with observers in slots, as always, and in the service's own process (`SLOTS=0`), one after the other in each run.
 *
 * @type {import("./bench.mjs").Scenario}
 */
export const slots = {
  id: "slots",
  number: 10,
  title: "With slots, and without (SLOTS=0)",
  quickRuns: 2,
  measure,
  beside: "SLOTS=0",
};

/** @typedef {"ours" | "raw"} Side */
const SIDES = /** @type {const} */ ({ ours: {}, raw: { SLOTS: "0" } });

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes } = bench;
  const all = counted(sizes.crowd);
  const much = counted(sizes.large / 2);
  const less = /** @type {const} */ ("less");
  const tally = new Tally("slots", {
    created: milliseconds(`${all} creates by one batch: all handlers running`),
    killed: milliseconds(`kill -9 with ${all}: all handlers running elsewhere`),
    emits: perSecond(`emits confirmed, ${EMITTING} observers one after the other each`),
    memory: { title: `memory (PSS) per idle observer of ${much}, over the raw consumer's`, unit: "KB", better: less },
    footprint: { title: "memory (PSS) of the service before its first observer, with its slots", unit: "MB", better: less },
    idle: { title: `CPU of the service with ${all} idle observers, with its slots, of a core`, unit: "%", better: less },
    "start-cpu": { ...milliseconds("a slot's start before an author's code: CPU") },
    "start-wall": { ...milliseconds("a slot's start before an author's code: until it answers") },
    "start-memory": { title: "a slot before an author's code: memory (PSS)", unit: "MB", better: less },
  });
  const memoryOfRaw = await rawMemory(rig, sizes.large / 2);
  await repeat(bench, "with slots, and without", async (run) => {
    const { cpuMs, wallMs, pssMb } = await measureSlotStart();
    tally.ours({ "start-cpu": cpuMs, "start-wall": wallMs, "start-memory": pssMb });
    // The first one has the colder caches, so they take turns.
    const sides = /** @type {Side[]} */ (run % 2 === 1 ? ["ours", "raw"] : ["raw", "ours"]);
    for (const side of sides) tally[side](await crowdOn(bench, SIDES[side]));
    for (const side of sides) tally[side]({ emits: await emitsOn(bench, SIDES[side]) });
    if (run === 1) for (const side of sides) tally[side]({ memory: (await memoryOn(bench, SIDES[side])) - memoryOfRaw });
  });
  return { figures: tally.figures };
}

/** @param {import("./bench.mjs").Bench} bench @param {Record<string, string>} env */
async function crowdOn({ rig, sizes, runs }, env) {
  const { crowd, idleS } = sizes;
  const system = await System.start(rig);
  const holder = await system.startService("alpha-0", crowd, env);
  const footprint = pssBytesWithChildren(holder.pid) / MB;
  await sleep(SETTLE_MS);
  const watch = rig.meter.watch();
  const [body = ""] = system.batchBodies(crowd);
  const beganMs = nowMs();
  await Promise.all([system.rest.createMany("observers", body), watch.untilStarted(crowd)]);
  const created = watch.lastStartMs - beganMs;
  watch.end();
  await system.books.until("Processing", crowd, ["Created"]);
  const heir = await system.startService("alpha-1", crowd, env);
  await sleep(SETTLE_MS);
  const again = rig.meter.watch([heir.pid]);
  const killedMs = holder.signal("SIGKILL");
  await again.untilStarted(crowd);
  const killed = again.lastStartMs - killedMs;
  again.end();
  await system.books.untilMovedFrom(crowd, holder.pid);
  await sleep(2 * SETTLE_MS);
  const { service } = await shareOfCore((idleS * 1_000) / runs, { service: () => cpuMsWithChildren(heir.pid) });
  await system.close();
  return { created, killed, footprint, idle: service };
}

/** @param {import("./bench.mjs").Bench} bench @param {Record<string, string>} env */
async function emitsOn({ rig }, env) {
  const system = await System.start(rig);
  const service = await system.startService("alpha", EMITTING, { ...env, OBSERVERS_DIR: "bench/observers-emitting" });
  const [body = ""] = system.batchBodies(EMITTING);
  await system.rest.createMany("observers", body);
  await system.books.until("Processing", EMITTING, ["Created"]);
  await sleep(SETTLE_MS);
  const confirmed = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return { atMs: nowMs(), count: Number(/^unacked_service_outputs_total\{outcome="confirmed"\} (\d+)$/m.exec(text)?.[1]) };
  };
  const before = await confirmed();
  await sleep(EMIT_MS);
  const after = await confirmed();
  await system.close();
  return ((after.count - before.count) * 1_000) / (after.atMs - before.atMs);
}

/** In KB. @param {import("./bench.mjs").Bench} bench @param {Record<string, string>} env */
async function memoryOn({ rig, sizes }, env) {
  const count = sizes.large / 2;
  const system = await System.start(rig);
  const service = await system.startService("alpha", count, env);
  await sleep(SETTLE_MS);
  const before = pssBytesWithChildren(service.pid);
  await system.create(count);
  await sleep(sizes.settleS * 500);
  const bytes = pssBytesWithChildren(service.pid) - before;
  await system.close();
  return bytes / count / KB;
}

/** Of a message that is held, in KB. @param {import("../rig/rig.mjs").Rig} rig @param {number} count */
async function rawMemory(rig, count) {
  const raw = await RawBroker.open(rig);
  const consumer = await raw.startConsumer("raw-consumer", count);
  const before = pssBytes(consumer.pid);
  const watch = rig.meter.watch();
  await raw.publish(startBodies(count));
  await watch.untilStarted(count);
  watch.end();
  await sleep(SETTLE_MS);
  const bytes = pssBytes(consumer.pid) - before;
  await raw.close();
  await rig.programs.endAll();
  return bytes / count / KB;
}
