import { setTimeout as sleep } from "node:timers/promises";
import { Tally } from "../core/tally.mjs";
import { measureIdle } from "../peers/measure.mjs";
import { RawBroker, startBodies } from "../raw/raw-broker.mjs";
import { partsOf, shareOfCore } from "../rig/cpu.mjs";
import { cpuMs } from "../rig/proc.mjs";
import { Statements } from "../rig/statements.mjs";
import { System } from "../rig/system.mjs";
import { repeat } from "./bench.mjs";

/** 10,000 run, and nothing happens. @type {import("./bench.mjs").Scenario} */
export const idle = { id: "idle", number: 8, title: "Idle cost at 10,000", quickRuns: 2, measure };

/** @param {import("./bench.mjs").Bench} bench */
async function measure(bench) {
  const { rig, runs, sizes, peers } = bench;
  const { crowd, idleS, settleS, peerIdleS } = sizes;
  const share = (/** @type {string} */ title) => ({
    title,
    unit: "%",
    better: /** @type {const} */ ("less"),
    isLoose: true,
  });
  const aSecond = (/** @type {string} */ title) => ({
    title,
    unit: "/s",
    better: /** @type {const} */ ("less"),
    isLoose: true,
  });
  const tally = new Tally("idle", {
    statements: aSecond("SQL statements (peers: statements or Redis commands)"),
    "statements-beyond-alive": aSecond("SQL statements beyond one per ServiceAlive"),
    "manager-cpu": share("CPU of the manager, of a core"),
    "service-cpu": share("CPU of the service, of a core (raw: of the consumer)"),
    "broker-cpu": share("CPU of the broker, of a core (raw: with the raw consumer alone)"),
    "database-cpu": share("CPU of PostgreSQL, of a core (peers: of it or Redis)"),
  });
  const windowMs = (idleS * 1_000) / runs;

  const raw = await RawBroker.open(rig);
  const consumer = await raw.startConsumer("raw-consumer", crowd);
  await raw.publish(startBodies(crowd));
  await sleep(settleS * 1_000);
  await repeat(bench, `idle, raw, ${windowMs / 1_000} s`, async () => {
    const shares = await shareOfCore(windowMs, { service: () => cpuMs(consumer.pid), broker: () => cpuMs(rig.broker.pid) });
    tally.raw({ "service-cpu": shares.service, "broker-cpu": shares.broker });
  });
  await raw.orderAcks(crowd);
  await raw.close();
  await rig.programs.endAll();

  const system = await System.start(rig);
  const service = await system.startService("alpha", crowd);
  await system.create(crowd);
  await sleep(settleS * 1_000);
  const statements = await Statements.of(rig, system.books);
  await repeat(bench, `idle, ${windowMs / 1_000} s`, async () => {
    const before = await statements.look();
    const shares = await shareOfCore(windowMs, partsOf(rig, system, service));
    const after = await statements.look();
    const calls = after.calls - before.calls;
    tally.ours({
      statements: (calls * 1_000) / windowMs,
      "statements-beyond-alive": ((calls - (after.batches - before.batches)) * 1_000) / windowMs,
      "manager-cpu": shares.manager,
      "service-cpu": shares.service,
      "broker-cpu": shares.broker,
      "database-cpu": shares.database,
    });
  });
  await statements.close();
  await system.close();
  for (const peer of peers)
    await measureIdle(bench, peer, crowd, peerIdleS * 1_000, (who, perS, workerShare, serverShare) => {
      tally.peer(who, { statements: perS, "service-cpu": workerShare, "database-cpu": serverShare });
    });
  return { figures: tally.figures };
}
