import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Rabbitmq, startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { managementOf } from "../support/broker/management.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, temporaryFolder } from "../support/servers/servers.ts";
import { BROKER_TEST_CONFIG } from "../support/servers/test-servers.ts";
import { System } from "../support/system/system.ts";

const COUNT = 2_000;
/** Rare, so that two thousand of them leave the machine some air. */
const EVERY_MS = 1_000;
const CHECK = { freshMs: 3 * EVERY_MS, timeoutMs: 60_000 };

describe.runIf(isTurnOf(1))("two thousand observers on two services, when the broker", () => {
  const dir = temporaryFolder("rabbitmq");
  let broker: Rabbitmq;
  let endBroker = async (): Promise<void> => undefined;
  let system: System;
  let ids: string[];

  beforeAll(async () => {
    broker = await startRabbitmq({ dir, config: BROKER_TEST_CONFIG });
    endBroker = () => broker.kill().then(broker.stop);
    const { databaseUrl } = await freshDatabase();
    const management = managementOf(broker.managementUrl, "/");
    system = new System({ amqpUrl: broker.amqpUrl, databaseUrl, management, heartbeatS: 20 });
    await system.startManager();
    await Promise.all([1, 2].map((i) => system.startService(`service-${i}`, { workers: COUNT / 2 })));
    ids = await system.createCrowd("observer", COUNT, { everyMs: EVERY_MS });
  }, 240_000);
  afterAll(async () => {
    await system?.close();
    await endBroker();
  });

  /** Until each is Processing in this run of this revision. @returns ms since the broker was up again */
  async function untilAllRunAgain(expected: { epoch: number; revision: number }): Promise<number> {
    const upAtMs = performance.now();
    await eventually(
      async () => {
        const after = await system.observers(ids);
        const tally = new Map<string, number>();
        for (const { status, epoch, revision } of after) {
          const what = JSON.stringify({ status, epoch, revision });
          tally.set(what, (tally.get(what) ?? 0) + 1);
        }
        expect([...tally]).toEqual([[JSON.stringify({ status: "Processing", ...expected }), COUNT]]);
      },
      { timeoutMs: 60_000, what: "all of them running again" },
    );
    return performance.now() - upAtMs;
  }

  const nobodyWasRestarted = () => {
    for (const each of [...system.services.values(), ...system.managers]) expect(each.exit()).toBeNull();
  };

  it("is killed with -9: all run again, each once", async () => {
    await broker.kill();
    await broker.start();
    const ms = await untilAllRunAgain({ epoch: 2, revision: 1 });
    console.log(`broker killed -9: ${COUNT} run again and stand in the books ${ms.toFixed(0)} ms after it was up`);
    nobodyWasRestarted();
    await system.check(CHECK);
  }, 240_000);

  it("loses all its data: everything is declared again, all are sent again and run, each once", async () => {
    await broker.kill();
    rmSync(join(dir, "data"), { recursive: true });
    await broker.start();
    const ms = await untilAllRunAgain({ epoch: 3, revision: 2 });
    console.log(`broker emptied: ${COUNT} run again and stand in the books ${ms.toFixed(0)} ms after it was up`);
    nobodyWasRestarted();
    await system.check(CHECK);
  }, 240_000);
});
