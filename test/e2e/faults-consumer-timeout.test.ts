import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { cutQueueType } from "../support/broker/cut-queue-type.ts";
import { managementOf } from "../support/broker/management.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, temporaryFolder } from "../support/servers/servers.ts";
import { BROKER_TEST_CONFIG } from "../support/servers/test-servers.ts";
import { System } from "../support/system/system.ts";

const CONSUMER_TIMEOUT_MS = 5_000;
const REMEDY = "consumer_timeout = 315360000000";

describe.runIf(isTurnOf(0))("on a broker that nobody configured, so that it takes long unacked messages back", () => {
  const dir = temporaryFolder("rabbitmq");
  let endBroker = async (): Promise<void> => undefined;
  let system: System;
  let queueType: "classic" | "quorum";

  beforeAll(async () => {
    // Five seconds for its 30 minutes. The interval at which it looks has no name in rabbitmq.conf.
    writeFileSync(join(dir, "advanced.config"), "[{rabbit, [{channel_tick_interval, 1000}]}].\n");
    const config = { ...BROKER_TEST_CONFIG, consumer_timeout: CONSUMER_TIMEOUT_MS };
    const broker = await startRabbitmq({ dir, config });
    endBroker = () => broker.kill().then(broker.stop);
    const { databaseUrl } = await freshDatabase();
    const management = managementOf(broker.managementUrl, "/");
    queueType = await cutQueueType(management);
    const env = { WORK_QUEUE_TYPE: queueType };
    system = new System({ amqpUrl: broker.amqpUrl, databaseUrl, management, env });
    await system.startManager();
  });
  afterAll(async () => {
    await system?.close();
    await endBroker();
  });

  it("it is recognised, with the remedy, in log and readiness; every observer is back, none doubled, no process ends", async () => {
    const services = await Promise.all([1, 2].map((i) => system.startService(`service-${i}`)));
    const before = await system.createMany("observer", 10);
    const ids = before.map((one) => one.id);

    // Cut, back, and cut again: that goes on every few seconds until somebody heeds the remedy. RabbitMQ 4.3 (quorum) now
    // and then leaves in peace what it has cut once.
    const leastRuns = queueType === "quorum" ? 2 : 3;
    await eventually(
      async () => {
        const after = await system.observers(ids);
        expect(after.map((one) => one.status)).toEqual(ids.map(() => "Processing"));
        expect(Math.min(...after.map((one) => one.epoch))).toBeGreaterThanOrEqual(leastRuns);
      },
      { timeoutMs: 40_000, what: "each observer cut and back" },
    );
    for (const service of services) {
      const line = await service.waitForLine((each) => each.includes('"kind":"consumer-timeout"'));
      expect(JSON.parse(line)).toMatchObject({ level: "error", remedy: expect.stringContaining(REMEDY) });
      const { url } = await service.waitForEvent("listening");
      expect(await (await fetch(`${String(url)}/readyz`)).json()).toMatchObject({
        consumer: { lastLoss: { kind: "consumer-timeout", remedy: expect.stringContaining(REMEDY) } },
      });
      expect(service.exit()).toBeNull();
    }
    // Each tells it with its next birth.
    await eventually(async () => {
      const cuts = (await system.stats()).warnings.filter((one) => one.code === "broker-cuts-jobs");
      expect(cuts.map((one) => one.subject).toSorted()).toEqual(["service-1", "service-2"]);
      expect(cuts[0]?.remedy).toContain(REMEDY);
    });
    // The broker gives them away the moment it closes the channel; a handler has stopped a moment after it hears of it.
    system.reportOverlap("consumer_timeout", before);
    await system.check({ maxOverlapMs: 3_000 });
  }, 240_000);
});
