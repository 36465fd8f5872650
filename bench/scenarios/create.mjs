import { counted } from "../core/sizes.mjs";
import { milliseconds, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { measureCreation } from "../peers/measure.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { cpuSpent, partsOf, spentFigures, spentValues } from "../rig/cpu.mjs";
import { System } from "../rig/system.mjs";
import { atOnce, repeat } from "./bench.mjs";

const CONNECTIONS = 32;

/** Many creates: from the POST to the last handler that runs and to the books that say so. @type {import("./bench.mjs").Scenario} */
export const create = { id: "create", number: 1, title: "10,000 creates", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, peers, sizes } = bench;
  const [all, singly] = [counted(sizes.crowd), `${counted(sizes.singles)} single POSTs over ${CONNECTIONS} connections`];
  const tally = new Tally("create", {
    "batch-accepted": milliseconds(`${all} creates by one batch: accepted (raw: all confirmed)`),
    "batch-running": milliseconds(`${all} creates by one batch: all handlers running (raw: all delivered)`),
    "batch-books": milliseconds(`${all} creates by one batch: all Processing in the books (raw: all delivered)`),
    ...spentFigures(`${all} creates by one batch`),
    "singles-accepted": milliseconds(`${singly}: accepted (raw: each confirmed)`),
    "singles-running": milliseconds(`${singly}: all handlers running (raw: all delivered)`),
    "singles-books": milliseconds(`${singly}: all Processing (raw: all delivered)`),
  });
  const raw = await RawBroker.open(rig);
  await raw.startConsumer("raw-consumer", sizes.crowd);
  const system = await System.start(rig);
  const service = await system.startService("alpha", sizes.crowd);
  await repeat(bench, `batch of ${all}`, async () => {
    const { confirmedMs, deliveredMs } = await publishRaw(rig, raw, sizes.crowd, (bodies) => raw.publish(bodies));
    tally.raw({ "batch-accepted": confirmedMs, "batch-running": deliveredMs, "batch-books": deliveredMs });
    const [body = ""] = system.batchBodies(sizes.crowd);
    const post = () => system.rest.createMany("observers", body);
    const { result: times, spentMs } = await cpuSpent(partsOf(rig, system, service), () =>
      createOurs(rig, system, sizes.crowd, post),
    );
    tally.ours({ "batch-accepted": times.acceptedMs, "batch-running": times.runningMs, "batch-books": times.booksMs });
    tally.ours(spentValues(spentMs));
    await system.stopAll();
  });
  await repeat(bench, singly, async () => {
    const { confirmedMs, deliveredMs } = await publishRaw(rig, raw, sizes.singles, (bodies) =>
      atOnce(sizes.singles, CONNECTIONS, (index) => raw.publishOne(/** @type {Buffer} */ (bodies[index]))),
    );
    tally.raw({ "singles-accepted": confirmedMs, "singles-running": deliveredMs, "singles-books": deliveredMs });
    const bodies = Array.from({ length: sizes.singles }, () => JSON.stringify(system.observer()));
    const times = await createOurs(rig, system, sizes.singles, () =>
      atOnce(sizes.singles, CONNECTIONS, (index) => system.rest.expect(201, "POST", "/api/v1/observers", bodies[index])),
    );
    tally.ours({ "singles-accepted": times.acceptedMs, "singles-running": times.runningMs, "singles-books": times.booksMs });
    await system.stopAll();
  });
  await raw.close();
  await system.close();
  for (const peer of peers)
    await measureCreation(bench, peer, sizes.crowd, (who, ms) => tally.peer(who, { "batch-running": ms }));
  return { figures: tally.figures };
}

/**
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {RawBroker} raw
 * @param {number} count
 * @param {(bodies: Buffer[]) => Promise<unknown>} publish
 */
async function publishRaw(rig, raw, count, publish) {
  const bodies = startBodies(count);
  const watch = rig.meter.watch();
  const beganMs = nowMs();
  await publish(bodies);
  const confirmedMs = nowMs() - beganMs;
  await watch.untilStarted(count);
  const deliveredMs = watch.lastStartMs - beganMs;
  await raw.orderAcks(count);
  await watch.untilStopped(count);
  watch.end();
  return { confirmedMs, deliveredMs };
}

/**
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {System} system
 * @param {number} count
 * @param {() => Promise<unknown>} post
 */
async function createOurs(rig, system, count, post) {
  const watch = rig.meter.watch();
  const beganMs = nowMs();
  const accepted = post().then(() => nowMs() - beganMs);
  const [acceptedMs] = await Promise.all([accepted, watch.untilStarted(count)]);
  const runningMs = watch.lastStartMs - beganMs;
  const booksMs = (await system.books.until("Processing", count, ["Created"])) - beganMs;
  watch.end();
  if (watch.started !== count) throw new Error(`${watch.started} handlers started instead of ${count}`);
  return { acceptedMs, runningMs, booksMs };
}
