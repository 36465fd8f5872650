import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { RequestSystem } from "../support/system/requests.ts";

/* What the alerts StateQueueUnread, BrokerAway and RequestsWait are told of queues that no manager reads, with the rights of deploy/. */

async function start(): Promise<RequestSystem> {
  const amqp = await RequestSystem.start();
  onTestFinished(() => amqp.close());
  return amqp;
}

test("Requests that no manager reads, as REQUEST_USERS was taken away, are counted all the same", async () => {
  const amqp = await start();
  const before = await amqp.startManager();
  const requester = await amqp.requester();
  await before.kill("SIGTERM");
  await requester.publish({ tasks: [amqp.work()] }, { messageId: randomUUID() });
  await amqp.system.startManager({ env: { AMQP_URL: amqp.rights.managerUrl } });
  await eventually(async () => expect((await scrape(amqp.system.url)).value("unacked_requests_waiting")).toBe(1), {
    what: "a request that waits",
    timeoutMs: 20_000,
  });
});

test("A manager that may not read what is told of tasks says nothing of that queue, and that it can publish", async () => {
  const amqp = await start();
  const { management } = amqp.rights.broker;
  const before = await amqp.startManager();
  await before.kill("SIGTERM");
  await management.call("PUT", "/permissions/{vhost}/unacked-manager", {
    configure: "^unacked\\..*$",
    write: "^unacked\\..*$",
    read: "^unacked\\.(?!task-state$).*$",
  });
  await amqp.startManager();
  const metrics = await scrape(amqp.system.url);
  expect(metrics.value("unacked_queue_consumers", { queue: "unacked.state" })).toBe(1);
  expect(metrics.value("unacked_queue_consumers", { queue: "unacked.task-state" })).toBeUndefined();
  expect(metrics.value("unacked_broker_connected", { connection: "publish" })).toBe(1);
  expect(metrics.value("unacked_broker_connected", { connection: "consume" })).toBe(1);
});
