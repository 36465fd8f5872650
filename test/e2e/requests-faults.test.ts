import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { managementOf } from "../support/broker/management.ts";
import { Requester } from "../support/broker/requester.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { ROOT } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, freshVhost, privatePostgres, temporaryFolder } from "../support/servers/servers.ts";
import { BROKER_TEST_CONFIG } from "../support/servers/test-servers.ts";
import { freshSystem, System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

/* The crash table of docs/decisions/0013-creation-over-amqp.md: servers that go, and a manager that is frozen. */

const USERS = { guest: { role: "operator", types: ["*"], pools: ["*"], perMinute: 600_000 } };
const LATER = { type: "later", startAt: "2100-01-01T00:00:00Z" };

let system: System;
let requester: Requester;
const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await requester.close().catch(() => undefined);
  await system.close();
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

const startManager = (env: Record<string, string> = {}) =>
  system.startManager({ env: { REQUEST_USERS: JSON.stringify(USERS), ...env } });
const connect = async () => {
  requester = await Requester.connect(system.env.AMQP_URL as string);
};
const untilAnswered = (ids: string[], timeoutMs = 40_000) =>
  eventually(
    () => {
      const answered = new Set(requester.replies.map(({ correlationId }) => correlationId));
      expect(ids.filter((id) => !answered.has(id)).length).toBe(0);
    },
    { timeoutMs, what: "an answer to each request" },
  );

/** Each of these created what it was told that it created, and nothing else is there. */
async function expectOnce(ids: string[], told = requester.replies): Promise<void> {
  const said = new Map<string, Set<string>>();
  for (const { correlationId, text } of told) said.set(correlationId, (said.get(correlationId) ?? new Set()).add(text));
  expect([...said.keys()].toSorted()).toEqual(ids.toSorted());
  expect([...said.values()].filter((texts) => texts.size !== 1)).toEqual([]);
  const promised = [...said.values()].flatMap((texts) => [...texts].map((text) => JSON.parse(text).results[0].task.id));
  expect((await new Tasks(system).idsOf("Scheduled")).toSorted()).toEqual(promised.toSorted());
}

test.runIf(isTurnOf(0))(
  "While the database is away nothing is answered and nothing lost; then each is created once",
  async () => {
    const database = await privatePostgres();
    const { amqpUrl, management } = await freshVhost();
    system = new System({ amqpUrl, databaseUrl: database.databaseUrl, management });
    const managers = [await startManager(), await startManager()];
    await connect();
    const before = await requester.publishMany(Array.from({ length: 200 }, () => ({ tasks: [LATER] })));
    await database.kill();
    const meanwhile = await requester.publishMany(Array.from({ length: 50 }, () => ({ tasks: [LATER] })));
    const downUntil = performance.now() + 12_000; // longer than a manager keeps the queue
    await eventually(() => performance.now() >= downUntil, { timeoutMs: 15_000 });
    expect(requester.replies.filter(({ correlationId }) => meanwhile.includes(correlationId))).toEqual([]);
    await database.start();
    const upMs = performance.now();
    await untilAnswered([...before, ...meanwhile]);
    console.log(`database away for 12 s: all answered ${(performance.now() - upMs).toFixed(0)} ms after its start`);
    await expectOnce([...before, ...meanwhile]);
    for (const manager of managers) expect(manager.exit()).toBeNull();
  },
);

const PER_S = 30;
/** Ten seconds' worth may come at once. */
const OUTAGE_MS = 16_000;
const KEPT_TO = { REQUEST_USERS: JSON.stringify({ guest: { ...USERS.guest, perMinute: 60 * PER_S } }) };

async function publishAtRate(forMs: number): Promise<string[]> {
  const asked: string[] = [];
  const beganMs = performance.now();
  await eventually(
    async () => {
      const passedMs = Math.min(forMs, performance.now() - beganMs);
      const due = Math.floor((passedMs * PER_S) / 1_000) - asked.length;
      asked.push(...(await requester.publishMany(Array.from({ length: due }, () => ({ tasks: [LATER] })))));
      expect(passedMs).toBe(forMs);
    },
    { timeoutMs: forMs + 10_000 },
  );
  return asked;
}

async function expectNoneTooMany(asked: string[]): Promise<void> {
  await untilAnswered(asked);
  expect(requester.replies.filter(({ status }) => status !== 200).map(({ status }) => status)).toEqual([]);
  await expectOnce(asked);
}

test.runIf(isTurnOf(0))("Who keeps to its rate is not told that it asked too often while no manager was there", async () => {
  system = await freshSystem();
  const manager = await startManager(KEPT_TO);
  await connect();
  const asked = await publishAtRate(1_000);
  await manager.kill();
  asked.push(...(await publishAtRate(OUTAGE_MS)));
  await startManager(KEPT_TO);
  asked.push(...(await publishAtRate(2_000)));
  await expectNoneTooMany(asked);
});

test.runIf(isTurnOf(1))(
  "Nor while the database was away, and managers gave the queue to each other, with what came again and again",
  async () => {
    const database = await privatePostgres();
    const { amqpUrl, management } = await freshVhost();
    system = new System({ amqpUrl, databaseUrl: database.databaseUrl, management });
    const managers = [await startManager(KEPT_TO), await startManager(KEPT_TO)];
    await connect();
    await database.kill();
    const asked = await publishAtRate(OUTAGE_MS);
    expect(managers.flatMap(({ lines }) => lines).join("\n")).toContain("another manager may try");
    await database.start();
    asked.push(...(await publishAtRate(2_000)));
    await expectNoneTooMany(asked);
  },
);

test.runIf(isTurnOf(2))(
  "Of a frozen manager another one takes over, and what the frozen one has in hand is done once",
  async () => {
    system = await freshSystem();
    const frozen = await startManager();
    await connect();
    await startManager();
    const asked = await requester.publishMany(Array.from({ length: 400 }, () => ({ tasks: [LATER] })));
    await eventually(() => expect(requester.replies.length).toBeGreaterThan(20));
    await frozen.kill("SIGSTOP");
    const frozenMs = performance.now();
    asked.push(...(await requester.publishMany(Array.from({ length: 50 }, () => ({ tasks: [LATER] })))));
    await untilAnswered(asked);
    console.log(`frozen manager: all answered after ${(performance.now() - frozenMs).toFixed(0)} ms`);
    await frozen.kill("SIGCONT");
    await eventually(async () => expect((await system.management.queue("unacked.request")).total).toBe(0));
    await expectOnce(asked);
  },
);

test.runIf(isTurnOf(1))(
  "Over a kill -9 of the broker requesters ask again under the same id, and each is created once",
  async () => {
    const broker = await startRabbitmq({ dir: temporaryFolder("rabbitmq"), config: BROKER_TEST_CONFIG });
    cleanUps.push(() => broker.kill().then(broker.stop));
    const { databaseUrl } = await freshDatabase();
    system = new System({ amqpUrl: broker.amqpUrl, databaseUrl, management: managementOf(broker.managementUrl, "/") });
    await startManager();
    await connect();
    const asked = Array.from({ length: 500 }, () => randomUUID());
    const bodies = asked.map(() => ({ tasks: [LATER] }));
    const lost = requester.publishMany(bodies, asked).catch(() => undefined);
    await eventually(() => expect(requester.replies.length).toBeGreaterThan(20));
    await broker.kill();
    await lost;
    const told = requester.replies;
    await broker.start();
    await eventually(connect, { timeoutMs: 30_000 }); // its queue went with its connection
    await requester.publishMany(bodies, asked);
    await untilAnswered(asked);
    await expectOnce(asked, [...told, ...requester.replies]);
    console.log(`broker killed after ${told.length} of 500 answers: ${requester.replies.length} more, 500 tasks`);
  },
);

test.runIf(isTurnOf(0))("With quorum queues it goes the same way", async () => {
  system = await freshSystem({ env: { WORK_QUEUE_TYPE: "quorum" } });
  await startManager();
  await connect();
  expect((await system.management.queue("unacked.request")).arguments).toMatchObject({
    "x-queue-type": "quorum",
    "x-single-active-consumer": true,
  });
  const asked = await requester.publishMany(Array.from({ length: 50 }, () => ({ tasks: [LATER] })));
  await untilAnswered(asked);
  await expectOnce(asked);
});

test.runIf(isTurnOf(0))(
  "Large requests that have piled up are read few at a time: a manager with little memory answers all of them",
  async () => {
    system = await freshSystem();
    const before = await startManager();
    await connect();
    await before.kill("SIGTERM");
    // 1 MiB each, of pairs of numbers, which take twelve times as much memory as JSON.
    const params = Array.from({ length: 43_000 }, () => [1, 2]);
    const large = JSON.stringify({ tasks: Array.from({ length: 4 }, () => ({ ...LATER, params })) });
    const asked = await requester.publishMany(Array.from({ length: 40 }, () => large));
    const manager = await startManager({ NODE_OPTIONS: "--max-old-space-size=256" });
    await untilAnswered(asked, 120_000);
    expect(requester.replies.map(({ status }) => status)).toEqual(asked.map(() => 200));
    expect(manager.exit()).toBeNull();
  },
);

test.runIf(isTurnOf(2))(
  "A policy bounds what may wait: who asks beyond that is told by the broker, and what it took is answered",
  async () => {
    system = await freshSystem();
    const manager = await startManager();
    await connect();
    await manager.kill("SIGTERM");
    // As docs/security.md has it, and smaller.
    const definition = { "max-length-bytes": 2_000, overflow: "reject-publish" };
    const policy = { pattern: "^unacked\\.request$", definition, "apply-to": "queues" };
    await system.management.call("PUT", "/policies/{vhost}/requests", policy);
    const taken: string[] = [];
    let refusal: unknown;
    while (refusal === undefined && taken.length < 1_000)
      await requester.publish({ tasks: [LATER] }).then(
        (id) => taken.push(id),
        (error: unknown) => {
          refusal = error;
        },
      );
    expect(refusal).toBeInstanceOf(Error);
    expect(taken.length).toBeGreaterThan(5);
    await startManager();
    await untilAnswered(taken);
    await expectOnce(taken);
  },
);

test("The policy of docs/security.md bounds a requester's own queues, too: others are answered, and who asks again is", async () => {
  const page = readFileSync(join(ROOT, "docs/security.md"), "utf8");
  const [, pattern = "", given = ""] = page.match(/set_policy -p VHOST requests '([^']+)' '([^']+)'/) ?? [];
  system = await freshSystem();
  await startManager();
  await connect();
  const key = `${requester.user}.unread`;
  const queue = `unacked.request-replies.${key}`;
  const { management } = system;
  await management.call("PUT", `/queues/{vhost}/${queue}`, { durable: true });
  await management.call("POST", `/bindings/{vhost}/e/unacked.request-replies/q/${queue}`, { routing_key: key });
  const definition = { ...JSON.parse(given), "max-length-bytes": 2_000 };
  await management.call("PUT", "/policies/{vhost}/requests", { pattern, definition, "apply-to": "queues" });
  const body = { tasks: [LATER] };
  const asked: string[] = [];
  for (let i = 0; i < 30; i += 1) asked.push(await requester.publish(body, { replyTo: key }));
  expect(await requester.ask(body)).toMatchObject({ status: 200 });
  const lost = (await scrape(system.url)).value("unacked_manager_request_replies_undelivered_total", {
    user: requester.user,
  });
  expect(lost).toBeGreaterThan(5);
  expect(await requester.ask(body, { messageId: asked.at(-1) as string })).toMatchObject({ status: 200 });
  expect(await new Tasks(system).idsOf("Scheduled")).toHaveLength(asked.length + 1); // each once, and the one that was answered
});
