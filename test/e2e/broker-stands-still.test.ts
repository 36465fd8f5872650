import type { Stats } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { managementOf } from "../support/broker/management.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { freshDatabase, temporaryFolder } from "../support/servers/servers.ts";
import { BROKER_TEST_CONFIG } from "../support/servers/test-servers.ts";
import { System } from "../support/system/system.ts";

let broker: Awaited<ReturnType<typeof startRabbitmq>>;
let system: System;

beforeAll(async () => {
  const dir = temporaryFolder("rabbitmq");
  broker = await startRabbitmq({ dir, config: BROKER_TEST_CONFIG });
  const { databaseUrl } = await freshDatabase();
  const management = managementOf(broker.managementUrl, "/");
  // So long that its connections stand while it is asked.
  system = new System({ amqpUrl: broker.amqpUrl, databaseUrl, management, heartbeatS: 30 });
  await system.startManager();
}, 120_000);
afterAll(async () => {
  process.kill(broker.pid, "SIGCONT");
  await system.close();
  await broker.stop();
});

test("while a broker stands still, the books are read and shown: it alone cannot be asked", async () => {
  process.kill(broker.pid, "SIGSTOP");
  const { status, body } = await system.call<Stats>("GET", "/api/v1/stats");
  expect([status, body.queues, body.warnings.map(({ code }) => code)]).toEqual([200, null, ["broker-away"]]);
  const metrics = await scrape(system.url);
  expect(metrics.value("unacked_manager_books_readable")).toBe(1);
  expect(metrics.value("unacked_warnings", { code: "broker-away" })).toBe(1);
  expect(metrics.value("unacked_state_queue_batches")).toBeUndefined();
}, 40_000);
