import { counted } from "../core/sizes.mjs";
import { milliseconds, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { cpuSpent, partsOf, spentFigures, spentValues } from "../rig/cpu.mjs";
import { System } from "../rig/system.mjs";
import { waitUntil } from "../rig/wait-until.mjs";
import { repeat } from "./bench.mjs";

/** All are stopped by one call. @type {import("./bench.mjs").Scenario} */
export const stop = { id: "stop", number: 4, title: "Stop of 10,000", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig } = bench;
  const { crowd } = bench.sizes;
  const all = counted(crowd);
  const tally = new Tally("stop", {
    accepted: milliseconds("accepted"),
    signals: milliseconds(`all signals fired (raw: one order to a consumer that acks ${all})`),
    deleted: milliseconds("all Deleted in the books (raw: the same)"),
    "queue-empty": { ...milliseconds("work queue empty, ± 250 ms (raw: the same)"), isLoose: true },
    ...spentFigures(`stop of ${all}`),
  });
  const raw = await RawBroker.open(rig);
  await raw.startConsumer("raw-consumer", crowd);
  const system = await System.start(rig);
  const service = await system.startService("alpha", crowd);

  await repeat(bench, `stop of ${all}`, async (run) => {
    const watch = rig.meter.watch();
    await raw.publish(startBodies(crowd));
    await watch.untilStarted(crowd);
    const orderedMs = nowMs();
    await raw.orderAcks(crowd);
    await watch.untilStopped(crowd);
    watch.end();
    const ackedMs = watch.lastStopMs - orderedMs;
    tally.raw({ signals: ackedMs, deleted: ackedMs, "queue-empty": ackedMs });

    await system.create(crowd);
    await waitUntil("the queue to count its messages", async () => (await system.queued()) === crowd);
    const { result, spentMs } = await cpuSpent(partsOf(rig, system, service), () =>
      stopOurs(rig, system, crowd, run * crowd),
    );
    tally.ours({ ...result, ...spentValues(spentMs) });
  });
  await raw.close();
  await system.close();
  return { figures: tally.figures };
}

/** @param {import("../rig/rig.mjs").Rig} rig @param {System} system @param {number} count @param {number} deleted how many there are then */
async function stopOurs(rig, system, count, deleted) {
  const watch = rig.meter.watch();
  const stopping = system.rest.expect(200, "POST", "/api/v1/observers/stop", JSON.stringify({ all: true }));
  const { sentMs, answeredMs } = await stopping;
  await watch.untilStopped(count);
  watch.end();
  const deletedMs = await system.books.until("Deleted", deleted, ["Processing", "OnDeleting"]);
  const emptyMs = await waitUntil("the work queue to be empty", async () => (await system.queued()) === 0);
  return {
    accepted: answeredMs - sentMs,
    signals: watch.lastStopMs - sentMs,
    deleted: deletedMs - sentMs,
    "queue-empty": emptyMs - sentMs,
  };
}
