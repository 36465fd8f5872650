import { perSecond, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { System } from "../rig/system.mjs";
import { atOnce, repeat } from "./bench.mjs";
import { SyntheticServices } from "./synthetic-services.mjs";

const OBSERVERS = 20_000;
const CONNECTIONS = 32;

/** What goes through when more and more comes. @type {import("./bench.mjs").Scenario} */
export const throughput = { id: "throughput", number: 9, title: "Sustained throughput", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes } = bench;
  const tally = new Tally("throughput", {
    "state-events": {
      ...perSecond("state events of 20 services, until they stand in the books (raw: the same messages, acked)"),
      isLoose: true,
    },
    "single-creates": perSecond("single REST creates over 32 connections (raw: confirmed publishes, 32 at once)"),
  });
  await measureStateEvents(bench, tally);
  const raw = await RawBroker.open(rig);
  await raw.startConsumer("raw-consumer", 65_535);
  const system = await System.start(rig);
  await system.startService("alpha", 65_535);
  const creates = sizes.posts;
  await repeat(bench, "single creates", async () => {
    const bodies = startBodies(creates);
    const rawMs = await timed(() => atOnce(creates, CONNECTIONS, (i) => raw.publishOne(/** @type {Buffer} */ (bodies[i]))));
    tally.raw({ "single-creates": (creates * 1_000) / rawMs });
    const posts = bodies.map(() => JSON.stringify(system.observer()));
    const ourMs = await timed(() =>
      atOnce(creates, CONNECTIONS, (i) => system.rest.expect(201, "POST", "/api/v1/observers", posts[i])),
    );
    tally.ours({ "single-creates": (creates * 1_000) / ourMs });
    await raw.orderAcks(1);
    await system.books.until("Processing", creates, ["Created"]);
    await system.stopAll();
  });
  await raw.close();
  await system.close();
  return { figures: tally.figures };
}

/**
 * Observers in a pool that no real service consumes, and services that are only said to run them.
 *
 * @param {import("./bench.mjs").Bench} bench
 * @param {Tally<"state-events" | "single-creates">} tally
 */
async function measureStateEvents(bench, tally) {
  const system = await System.start(bench.rig);
  const observers = system.batchBodies(OBSERVERS, { pool: "synthetic", whenFull: "queue" });
  for (const body of observers) await system.rest.expect(200, "POST", "/api/v1/observers/batch", body);
  const rows = await system.books.query("SELECT id FROM observers ORDER BY id");
  const services = await SyntheticServices.open(
    system.amqpUrl,
    rows.map(({ id }) => id),
  );
  await services.tell("RunStarted");
  await system.books.until("Processing", OBSERVERS, ["Created"]);
  await repeat(bench, "40,000 state events", async () => {
    const rawMs = await services.rawRound();
    tally.raw({ "state-events": (2 * OBSERVERS * 1_000) / rawMs });
    const beganMs = nowMs();
    await services.tell("RunRetrying");
    await services.tell("RunStarted");
    const until = "SELECT FROM services WHERE last_seq < $1 LIMIT 1";
    for (let behind = 1; behind > 0; ) behind = (await system.books.query(until, [services.seq])).length;
    tally.ours({ "state-events": (2 * OBSERVERS * 1_000) / (nowMs() - beganMs) });
    await system.books.until("Processing", OBSERVERS, ["Retrying"]);
  });
  await services.close();
  await system.close();
}

/** @param {() => Promise<unknown>} work */
async function timed(work) {
  const beganMs = nowMs();
  await work();
  return nowMs() - beganMs;
}
