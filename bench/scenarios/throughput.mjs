import { counted } from "../core/sizes.mjs";
import { percentileOf } from "../core/statistics.mjs";
import { milliseconds, perSecond, Tally } from "../core/tally.mjs";
import { nowMs } from "../meter/clock.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { cpuSpent } from "../rig/cpu.mjs";
import { cpuMs, cpuMsWithChildren } from "../rig/proc.mjs";
import { System } from "../rig/system.mjs";
import { waitUntil } from "../rig/wait-until.mjs";
import { atOnce, repeat } from "./bench.mjs";
import { SyntheticServices } from "./synthetic-services.mjs";

const PARTS = /** @type {const} */ (["manager", "broker", "database", "teller"]);
const KINDS = /** @type {const} */ (["RunRetrying", "RunStarted"]);
const CONNECTIONS = 32;

/** What goes through when more and more comes. @type {import("./bench.mjs").Scenario} */
export const throughput = { id: "throughput", number: 9, title: "Sustained throughput", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, sizes } = bench;
  const told = `${counted(sizes.stateObservers * KINDS.length)} state events of 20 services`;
  const tally = new Tally("throughput", {
    "state-events": {
      ...perSecond(`${told}, until they stand in the books (raw: the same messages, acked)`),
      isLoose: true,
    },
    "state-told": { ...perSecond(`${told}: as fast as they are told (until the broker has confirmed them)`), isLoose: true },
    ...cpuFigures(told),
    "single-creates": perSecond("single REST creates over 32 connections (raw: confirmed publishes, 32 at once)"),
    "single-p50": { ...milliseconds("each of them, from the POST to its answer: p50 (raw: to its confirm)"), isLoose: true },
    "single-p99": { ...milliseconds("each of them, from the POST to its answer: p99 (raw: to its confirm)"), isLoose: true },
    "many-types": perSecond("single REST creates, where twenty more services announce thirty types of 25 fields each"),
  });
  await measureStateEvents(bench, tally);
  const raw = await RawBroker.open(rig);
  await raw.startConsumer("raw-consumer", 65_535);
  const system = await System.start(rig);
  await system.startService("alpha", 65_535);
  const single = await measureCreates(bench, tally, { raw, system, figure: "single-creates", title: "single creates" });
  for (const { raw: rawTook, ours } of single) {
    tally.raw({ "single-p50": percentileOf(rawTook, 50), "single-p99": percentileOf(rawTook, 99) });
    tally.ours({ "single-p50": percentileOf(ours, 50), "single-p99": percentileOf(ours, 99) });
  }
  await announceTypes(system);
  await measureCreates(bench, tally, { raw, system, figure: "many-types", title: "single creates among many types" });
  await raw.close();
  await system.close();
  return { figures: tally.figures };
}

/**
 * @param {import("./bench.mjs").Bench} bench
 * @param {Tally<string>} tally
 * @param {{ raw: RawBroker, system: System, figure: string, title: string }} parts
 * @returns what each single one took, ms, of each run
 */
async function measureCreates(bench, tally, { raw, system, figure, title }) {
  const creates = bench.sizes.posts;
  /** @type {{ raw: number[], ours: number[] }[]} */
  const took = [];
  await repeat(bench, title, async () => {
    const bodies = startBodies(creates);
    const run = { raw: /** @type {number[]} */ ([]), ours: /** @type {number[]} */ ([]) };
    took.push(run);
    const rawMs = await timed(() =>
      atOnce(creates, CONNECTIONS, async (i) =>
        run.raw.push(await timed(() => raw.publishOne(/** @type {Buffer} */ (bodies[i])))),
      ),
    );
    tally.raw({ [figure]: (creates * 1_000) / rawMs });
    const posts = bodies.map(() => JSON.stringify(system.observer()));
    const ourMs = await timed(() =>
      atOnce(creates, CONNECTIONS, async (i) => {
        const { sentMs, answeredMs } = await system.rest.expect(201, "POST", "/api/v1/observers", posts[i]);
        run.ours.push(answeredMs - sentMs);
      }),
    );
    tally.ours({ [figure]: (creates * 1_000) / ourMs });
    await raw.orderAcks(1);
    await system.books.until("Processing", creates, ["Created"]);
    await system.stopAll();
  });
  return took;
}

/** Of services that are in the books alone: they cost nothing but what is asked about them. @param {System} system */
async function announceTypes(system) {
  const fields = Array.from({ length: 25 }, (_, i) => [
    `field${i}`,
    { type: "string", description: "What it is, as people write it." },
  ]);
  const paramsSchema = { type: "object", properties: Object.fromEntries(fields), additionalProperties: false };
  const types = Array.from({ length: 30 }, (_, i) => ({ type: `other-${i}`, description: "", paramsSchema }));
  await system.books.query(
    `INSERT INTO services (id, name, pool, state, generation, last_seq, worker_count, types)
     SELECT gen_random_uuid(), 'announced-' || n, 'default', 'Alive', 1, 1, 1, $1 FROM generate_series(1, 20) n`,
    [JSON.stringify(types)],
  );
}

/**
 * Observers in a pool that no real service consumes, and services that are only said to run them.
 *
 * @param {import("./bench.mjs").Bench} bench
 * @param {Tally<string>} tally
 */
async function measureStateEvents(bench, tally) {
  const { stateObservers: observerCount } = bench.sizes;
  const system = await System.start(bench.rig);
  const observers = system.batchBodies(observerCount, { pool: "synthetic", whenFull: "queue" });
  for (const body of observers) await system.rest.createMany("observers", body);
  const rows = await system.books.query("SELECT id FROM observers ORDER BY id");
  const services = await SyntheticServices.open(
    system.amqpUrl,
    rows.map(({ id }) => id),
  );
  await services.tell(services.prepare(["RunStarted"]));
  await system.books.until("Processing", observerCount, ["Created"]);
  const events = observerCount * KINDS.length;
  await repeat(bench, `${counted(events)} state events`, async () => {
    let [rawMs, booksMs, toldMs] = [0, 0, 0];
    const meters = {
      manager: () => cpuMs(system.manager.pid),
      broker: () => cpuMs(bench.rig.broker.pid),
      database: () => cpuMsWithChildren(bench.rig.database.pid),
      teller: () => cpuMs(process.pid),
    };
    const spentMs = { manager: 0, broker: 0, database: 0, teller: 0 };
    // The second kind when the first stands in the books: else two of one observer could be written as one.
    for (const kind of KINDS) {
      const bodies = services.prepare([kind]);
      rawMs += await services.rawRound(bodies);
      const told = await cpuSpent(meters, () => tellAll(system, services, bodies));
      booksMs += told.result.booksMs;
      toldMs += told.result.toldMs;
      for (const part of PARTS) spentMs[part] += told.spentMs[part];
    }
    tally.raw({ "state-events": (events * 1_000) / rawMs });
    tally.ours({
      "state-events": (events * 1_000) / booksMs,
      "state-told": (events * 1_000) / toldMs,
      "cpu-manager": spentMs.manager,
      "cpu-broker": spentMs.broker,
      "cpu-database": spentMs.database,
      "cpu-teller": spentMs.teller,
    });
    await system.books.until("Processing", observerCount, ["Retrying"]);
  });
  await services.close();
  await system.close();
}

/**
 * From the first that is told to the last in the books, and to the last that the broker has confirmed.
 *
 * @param {System} system
 * @param {SyntheticServices} services
 * @param {Buffer[]} bodies
 */
async function tellAll(system, services, bodies) {
  const beganMs = nowMs();
  const told = services.tell(bodies).then(() => nowMs() - beganMs);
  const isBehind = "SELECT FROM services WHERE last_seq < $1 LIMIT 1";
  const atMs = await waitUntil(
    "every batch to stand in the books",
    async () => (await system.books.query(isBehind, [services.seq])).length === 0,
    { everyMs: 20 },
  );
  return { booksMs: atMs - beganMs, toldMs: await told };
}

/** @param {string} what */
const cpuFigures = (what) => ({
  "cpu-manager": cpuOf(`${what}: CPU of the manager`),
  "cpu-database": cpuOf(`${what}: CPU of PostgreSQL`),
  "cpu-broker": cpuOf(`${what}: CPU of the broker`),
  "cpu-teller": cpuOf(`${what}: CPU of the benchmark, which tells them`),
});

/** @param {string} title @returns {import("../core/tally.mjs").FigureAbout} */
const cpuOf = (title) => ({ title, unit: "ms", better: "less", isLoose: true });

/** @param {() => Promise<unknown>} work */
async function timed(work) {
  const beganMs = nowMs();
  await work();
  return nowMs() - beganMs;
}
