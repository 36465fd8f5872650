import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { RandomWalk } from "../support/random-walk.ts";
import { privateBroker, privatePostgres } from "../support/servers.ts";
import { System } from "../support/system.ts";
import { MAX_LATE_ACTS, MAX_OVERLAP_MS } from "../support/walk-model.ts";
import { walkSteps } from "../support/walk-steps.ts";

/** See scripts/soak.mjs, which sets these. */
const minutes = Number(process.env.SOAK_MINUTES);
const firstSeed = Number(process.env.SOAK_SEED);
const queueTypes = (process.env.SOAK_QUEUE_TYPES ?? "classic,quorum").split(",");

const HEARTBEAT_S = 4;
const STEPS_A_ROUND = 20;
const HOLDER_KILLS = 30;
const forMs = (minutes * 60_000) / queueTypes.length;

const startedMs = performance.now();
const say = (text: string): void => {
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7);
  process.stdout.write(`${seconds} s  ${text}\n`);
};

describe.each(queueTypes)("on a %s work queue", (queueType) => {
  let system: System | undefined;
  afterEach(() => system?.close());

  const start = async () => {
    const [broker, database] = await Promise.all([privateBroker(), privatePostgres()]);
    const { amqpUrl, management } = broker;
    const { databaseUrl } = database;
    const env = { WORK_QUEUE_TYPE: queueType };
    system = new System({ amqpUrl, databaseUrl, management, heartbeatS: HEARTBEAT_S, env });
    return { system, broker, database };
  };

  it(
    `the holder of a message is killed ${HOLDER_KILLS} times, and the observer is still there`,
    async () => {
      const { system } = await start();
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
      say(`${queueType}: its holder killed ${HOLDER_KILLS} times, the observer is still there`);
    },
    HOLDER_KILLS * 10_000,
  );

  it(
    "a random walk with the heavy faults leaves every observer where it has to be",
    async () => {
      const { system, broker, database } = await start();
      const taken = new Map<string, number>();
      const walk = new RandomWalk({ system, servers: { broker, database }, onStep: (what) => say(`  ${what}`) });
      await walk.begin();
      const endMs = performance.now() + forMs;
      let rounds = 0;
      let overlapMs = 0;
      for (; performance.now() < endMs; rounds += 1) {
        const seed = firstSeed + rounds;
        say(`${queueType}, round ${rounds + 1}, seed ${seed}`);
        for (const step of walkSteps(seed, STEPS_A_ROUND, { heavy: { heartbeatMs: HEARTBEAT_S * 1_000 } })) {
          taken.set(step.kind, (taken.get(step.kind) ?? 0) + 1);
          await walk.take(step);
        }
        const settlingMs = performance.now();
        await walk.settle({ maxOverlapMs: MAX_OVERLAP_MS, maxLateActs: MAX_LATE_ACTS }).catch((error: unknown) => {
          say(`VIOLATION in round ${rounds + 1}, seed ${seed}, ${queueType}: ${String(error)}`); // the report comes at the end
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
      say(`SUMMARY ${queueType}: seed ${firstSeed}, ${rounds} rounds of ${STEPS_A_ROUND} steps, no violation`);
      say(`SUMMARY ${queueType}: ${counts.join(", ")}`);
      say(
        `SUMMARY ${queueType}: ${walk.model.observers.length} observers, longest overlap ${Math.round(overlapMs)} ms (beyond ${MAX_LATE_ACTS} late acts)`,
      );
    },
    forMs + 600_000,
  );
});
