import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../core/sizes.mjs";
import { percentileOf } from "../core/statistics.mjs";
import { milliseconds, perSecond, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { pssBytes } from "../rig/proc.mjs";
import { System } from "../rig/system.mjs";
import { repeat } from "./bench.mjs";
import { followUntil } from "./follow.mjs";

const SERVICES = ["alpha", "beta"];
const LOOKS = 20;
/** As the page asks for them (services/status-page/src/wire/load-observers.ts). */
const PAGE_ROWS = 5_000;
const KB = 1_024;
const MB = 1_048_576;
/** Of fewer, what a process takes once would be taken for theirs. */
const ENOUGH_FOR_PSS = 50_000;
/** One in so many has another label, and is restarted. */
const FEW = 20;

const BATCH = 10_000;
const LABELS = { few: { crowd: "few" }, many: { crowd: "many" } };

/** A hundred thousand on one machine. @type {import("./bench.mjs").Scenario} */
export const hundredThousand = {
  id: "hundred-thousand",
  number: 7,
  title: "100,000 observers on two services",
  quickRuns: 1,
  measure,
};

/** What a client may ask of the list, and the page asks all the time. */
const QUERIES = /** @type {const} */ ({
  "list-newest": "/api/v1/observers?limit=100",
  "list-status": "/api/v1/observers?limit=100&status=Processing",
  "list-label": "/api/v1/observers?limit=100&label=crowd:few",
  "list-service": "/api/v1/observers?limit=100&service=alpha",
  "list-name-part": "/api/v1/observers?limit=100&q=server-99",
  "one-by-name": "/api/v1/observers/observer-777",
  stats: "/api/v1/stats",
});

/** A manager reads them no more often, and who asks sooner waits; with some more for the clocks. */
const STATS_EVERY_MS = 260;

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig } = bench;
  const { large, settleS } = bench.sizes;
  const [all, few] = [counted(large), counted(large / FEW)];
  const kilobytes = (/** @type {string} */ title) => ({ title, unit: "KB", better: /** @type {const} */ ("less") });
  const tally = new Tally("hundred-thousand", {
    "memory-over-raw": { ...kilobytes("memory (PSS) per idle observer over the raw consumer"), isLoose: true },
    memory: { ...kilobytes("memory (PSS) per idle observer (raw: per held message)"), isLoose: true },
    heap: kilobytes("heap and buffers after a collection per idle observer (raw: per held message)"),
    "manager-memory": { title: `memory (PSS) of the manager with ${all} in the books`, unit: "MB", better: "less" },
    // With --quick it is of fewer, and takes each of them longer.
    created: {
      ...milliseconds(`${all} creates in batches → all handlers running (raw: all delivered)`),
      isLoose: true,
    },
    "list-newest": milliseconds(`list: newest 100 of ${all}, p50`),
    "list-status": milliseconds("list: 100 by status, p50"),
    "list-label": milliseconds("list: 100 by label, p50"),
    "list-service": milliseconds("list: 100 by service, p50"),
    "list-name-part": milliseconds("list: 100 by a part of the name, p50"),
    "one-by-name": milliseconds("one by name, p50"),
    stats: milliseconds("stats, p50"),
    "list-all": milliseconds(`the page's load: all ${all}, ${counted(PAGE_ROWS)} a call`),
    changes: perSecond(`the page's stream: changes while ${few} are restarted`),
  });
  const notes = new Set();
  await repeat(bench, `${all} observers`, async () => {
    const raw = await measureRaw(rig, large, settleS);
    tally.raw({ heap: raw.heapKb, created: raw.createdMs });
    bench.say(`${all} observers: the raw consumers hold theirs; now Unacked`);
    const system = await System.start(rig);
    // What an observer takes in the keeper and in its slot together, without the slots themselves.
    const services = await Promise.all(
      SERVICES.map((name) => system.startService(name, large / SERVICES.length, { SLOTS: "0" })),
    );
    const before = await memoryOf(rig, services);
    const createdMs = await createAll(rig, system, large);
    await sleep(settleS * 500);
    const after = await memoryOf(rig, services);
    const memoryKb = (after.pss - before.pss) / large / KB;
    if (large >= ENOUGH_FOR_PSS) {
      tally.raw({ memory: raw.memoryKb });
      tally.ours({ memory: memoryKb, "memory-over-raw": memoryKb - raw.memoryKb });
    }
    tally.ours({
      heap: (after.heap - before.heap) / large / KB,
      "manager-memory": pssBytes(system.manager.pid) / MB,
      created: createdMs,
    });
    bench.say(`${all} observers: lists, filters, the page`);
    for (const [key, path] of Object.entries(QUERIES)) tally.ours({ [key]: await medianOf(system, path) });
    tally.ours({ "list-all": await listAll(system, large) });
    const { perS, note } = await followChanges(system, large / FEW);
    tally.ours({ changes: perS });
    if (note !== undefined) notes.add(note);
    await system.close();
  });
  return { figures: tally.figures, notes: [...notes] };
}

/** @param {import("../rig/rig.mjs").Rig} rig @param {number} count @param {number} settleS */
async function measureRaw(rig, count, settleS) {
  const raw = await RawBroker.open(rig);
  const consumers = await Promise.all(SERVICES.map((name) => raw.startConsumer(`raw-${name}`, count / SERVICES.length)));
  const before = await memoryOf(rig, consumers);
  const watch = rig.meter.watch();
  const beganMs = nowMs();
  for (let left = count; left > 0; left -= BATCH) await raw.publish(startBodies(Math.min(BATCH, left), LABELS.many));
  await watch.untilStarted(count);
  watch.end();
  const createdMs = watch.lastStartMs - beganMs;
  await sleep(settleS * 500);
  const after = await memoryOf(rig, consumers);
  await raw.close();
  await rig.programs.endAll();
  return { memoryKb: (after.pss - before.pss) / count / KB, heapKb: (after.heap - before.heap) / count / KB, createdMs };
}

/** @param {import("../rig/rig.mjs").Rig} rig @param {import("../rig/programs.mjs").Program[]} programs */
async function memoryOf(rig, programs) {
  let [pss, heap] = [0, 0];
  for (const { pid } of programs) {
    const { heapUsed, external } = await rig.meter.memoryOf(pid);
    pss += pssBytes(pid);
    heap += heapUsed + external;
  }
  return { pss, heap };
}

/** @param {import("../rig/rig.mjs").Rig} rig @param {System} system @param {number} count */
async function createAll(rig, system, count) {
  const few = system.batchBodies(count / FEW, { labels: LABELS.few });
  const many = system.batchBodies(count - count / FEW, { labels: LABELS.many });
  const watch = rig.meter.watch();
  const beganMs = nowMs();
  for (const body of [...few, ...many]) await system.rest.createMany("observers", body);
  await watch.untilStarted(count);
  watch.end();
  await system.books.until("Processing", count, ["Created"]);
  return watch.lastStartMs - beganMs;
}

/** @param {System} system @param {string} path */
async function medianOf({ rest }, path) {
  const took = [];
  for (let i = 0; i < LOOKS; i += 1) {
    if (path === QUERIES.stats) await sleep(STATS_EVERY_MS);
    const { sentMs, answeredMs } = await rest.expect(200, "GET", path);
    took.push(answeredMs - sentMs);
  }
  return percentileOf(took, 50);
}

/** As the page loads it: from both ends until they meet. @param {System} system @param {number} count */
async function listAll({ rest }, count) {
  const beganMs = nowMs();
  const seen = new Set();
  /** @param {"newest" | "oldest"} sort */
  const readFrom = async (sort) => {
    for (let cursor = ""; cursor !== null; ) {
      const path = `/api/v1/observer-columns?sort=${sort}&limit=${PAGE_ROWS}${cursor && `&cursor=${cursor}`}`;
      const { text } = await rest.expect(200, "GET", path);
      const { columns, nextCursor } = JSON.parse(text);
      for (const id of columns.id) seen.add(id);
      if (seen.size >= count) return;
      cursor = nextCursor;
    }
  };
  await Promise.race([readFrom("newest"), readFrom("oldest")]);
  if (seen.size !== count) throw new Error(`The list has ${seen.size} observers instead of ${count}`);
  return nowMs() - beganMs;
}

/** @param {System} system @param {number} count how many there are to be restarted */
async function followChanges(system, count) {
  const body = JSON.stringify({ filter: { labels: LABELS.few } });
  return await followUntil(system, {
    act: () => system.rest.expect(200, "POST", "/api/v1/observers/restart", body),
    isLast: (view) => view.labels.crowd === "few" && view.epoch > 1 && view.status === "Processing",
    count,
  });
}
