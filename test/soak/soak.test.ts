import { afterEach, describe, expect, it } from "vitest";
import { managementOf } from "../support/broker/management.ts";
import { eventually } from "../support/eventually.ts";
import { privateBroker, privateCluster, privatePostgres } from "../support/servers/servers.ts";
import { System, type SystemOptions } from "../support/system/system.ts";
import { RandomWalk } from "../support/walk/random-walk.ts";
import { WalkCluster } from "../support/walk/walk-cluster.ts";
import { MAX_LATE_ACTS, MAX_OVERLAP_MS } from "../support/walk/walk-model.ts";
import { walkSteps } from "../support/walk/walk-steps.ts";

/** See scripts/soak.mjs, which sets these. */
const minutes = Number(process.env.SOAK_MINUTES);
const firstSeed = Number(process.env.SOAK_SEED);
const places = (process.env.SOAK_ON ?? "classic,quorum").split(",");

const HEARTBEAT_S = 4;
/** Of docs/guarantees.md, "While the nodes of a RabbitMQ cluster are parted", before RabbitMQ 4.3 under `pause_minority`: 1.9 H. */
const MAX_OVERLAP_WHILE_PARTED_MS = 1.9 * HEARTBEAT_S * 1_000;
const STEPS_A_ROUND = 20;
const HOLDER_KILLS = 30;
const forMs = (minutes * 60_000) / places.length;

const startedMs = performance.now();
const say = (text: string): void => {
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7);
  process.stdout.write(`${seconds} s  ${text}\n`);
};

/** What a manager says while it is wrong: afterwards nobody can ask any more. */
async function tellBooks(system: System): Promise<void> {
  const unsettled = (await system.listObservers()).filter(({ status }) => status !== "Processing" && status !== "Deleted");
  for (const { id, name, status } of unsettled) {
    const runs = (await system.call<object>("GET", `/api/v1/observers/${id}/runs`)).body;
    say(`${name} is ${status}, its runs: ${JSON.stringify(runs)}`);
  }
  for (const service of await system.listServices("?all=true")) say(`service ${JSON.stringify(service)}`);
  for (const path of ["/readyz", "/api/v1/stats"]) say(`${path}: ${JSON.stringify((await system.call("GET", path)).body)}`);
  say(`queues: ${JSON.stringify(await system.management.queues().catch(String))}`);
}

describe.each(places)("on %s", (place) => {
  let system: System | undefined;
  afterEach(() => system?.close());

  const startSystem = (options: Pick<SystemOptions, "amqpUrl" | "databaseUrl" | "management">, queueType: string) => {
    system = new System({ ...options, heartbeatS: HEARTBEAT_S, env: { WORK_QUEUE_TYPE: queueType } });
    return system;
  };

  const startOnNode = async (queueType: string) => {
    const [broker, database] = await Promise.all([privateBroker(), privatePostgres()]);
    const { amqpUrl, management } = broker;
    return { system: startSystem({ amqpUrl, databaseUrl: database.databaseUrl, management }, queueType), broker, database };
  };

  /** The manager on node c, a service on each. */
  const startOnCluster = async () => {
    const config = { cluster_partition_handling: "pause_minority" };
    const [cluster, database] = await Promise.all([privateCluster(config), privatePostgres()]);
    const management = managementOf(cluster.managementUrl, "/");
    const { databaseUrl } = database;
    const system = startSystem({ amqpUrl: cluster.amqpUrl("c"), databaseUrl, management }, "quorum");
    return { system, broker: new WalkCluster(cluster), database };
  };

  it.skipIf(place === "cluster")(
    `the holder of a message is killed ${HOLDER_KILLS} times, and the observer is still there`,
    async () => {
      const { system } = await startOnNode(place);
      await system.startManager();
      await Promise.all([system.startService("a"), system.startService("b")]);
      const [observer] = await system.createMany("held", 1);
      const id = observer?.id ?? "";
      for (let i = 0; i < HOLDER_KILLS; i += 1) {
        const [name, holder] = [...system.services].find(([, each]) => system.actingByPid().has(each.pid)) ?? [];
        if (name === undefined) throw new Error("nobody holds it");
        await holder?.kill("SIGKILL");
        await system.startService(name, { untilKnown: false });
        await eventually(() => [...system.services.values()].some((each) => system.actingByPid().has(each.pid)));
      }
      await system.check();
      // In the acts: of a run that was killed before it could say so the books know nothing.
      expect(new Set(system.acts().map((act) => act.runId)).size).toBe(HOLDER_KILLS + 1);
      expect((await system.get(id)).status).toBe("Processing");
      say(`${place}: its holder killed ${HOLDER_KILLS} times, the observer is still there`);
    },
    HOLDER_KILLS * 10_000,
  );

  it(
    "a random walk with the heavy faults leaves every observer where it has to be",
    async () => {
      const { system, broker, database } = await (place === "cluster" ? startOnCluster() : startOnNode(place));
      const heavy = { heartbeatMs: HEARTBEAT_S * 1_000, broker: place === "cluster" ? "cluster" : "node" } as const;
      const taken = new Map<string, number>();
      const walk = new RandomWalk({ system, servers: { broker, database }, onStep: (what) => say(`  ${what}`) });
      await walk.begin();
      const endMs = performance.now() + forMs;
      let rounds = 0;
      let overlapMs = 0;
      for (; performance.now() < endMs; rounds += 1) {
        const seed = firstSeed + rounds;
        say(`${place}, round ${rounds + 1}, seed ${seed}`);
        for (const step of walkSteps(seed, STEPS_A_ROUND, { heavy })) {
          taken.set(step.kind, (taken.get(step.kind) ?? 0) + 1);
          await walk.take(step);
        }
        const settlingMs = performance.now();
        const maxOverlapMs = place === "cluster" ? MAX_OVERLAP_WHILE_PARTED_MS : MAX_OVERLAP_MS;
        await walk.settle({ maxOverlapMs, maxLateActs: MAX_LATE_ACTS }).catch(async (error: unknown) => {
          say(`VIOLATION in round ${rounds + 1}, seed ${seed}, ${place}: ${String(error)}`); // the report comes at the end
          await tellBooks(system);
          throw error;
        });
        const judged = walk.judge(MAX_LATE_ACTS);
        overlapMs = Math.max(overlapMs, judged.overlapMs);
        say(
          `  all right ${((performance.now() - settlingMs) / 1_000).toFixed(1)} s later; observers: ${judged.observers}, ` +
            `longest overlap ${Math.round(judged.overlapMs)} ms (beyond ${MAX_LATE_ACTS} late acts)`,
        );
      }
      const counts = [...taken].toSorted().map(([kind, count]) => `${kind} ${count}`);
      say(`SUMMARY ${place}: seed ${firstSeed}, ${rounds} rounds of ${STEPS_A_ROUND} steps, no violation`);
      say(`SUMMARY ${place}: ${counts.join(", ")}`);
      if (broker instanceof WalkCluster)
        say(
          `SUMMARY ${place}: done to its nodes: ${[...broker.done].map(([what, count]) => `${what} ${count}`).join(", ")}`,
        );
      say(
        `SUMMARY ${place}: ${walk.model.observers.length} observers, longest overlap ${Math.round(overlapMs)} ms (beyond ${MAX_LATE_ACTS} late acts)`,
      );
    },
    forMs + 600_000,
  );
});
