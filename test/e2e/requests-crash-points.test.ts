import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Requester } from "../support/broker/requester.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { type CrashPoint, diesAt } from "../support/processes/crash-point.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

const KILLED = { code: null, signal: "SIGKILL" };
const USERS = { guest: { role: "operator", types: ["*"], pools: ["*"], perMinute: 600_000 } };
const ENV = { REQUEST_USERS: JSON.stringify(USERS) };
const LATER = { type: "later", startAt: "2100-01-01T00:00:00Z" };

/** The crash table of docs/decisions/0013-creation-over-amqp.md. */
describe("requests over AMQP, when something dies or is lost", () => {
  let system: System;
  let tasks: Tasks;
  let requester: Requester;
  const startManager = (env: Record<string, string> = {}) => system.startManager({ env: { ...ENV, ...env } });
  const connect = async () => {
    requester = await Requester.connect(system.env.AMQP_URL as string);
  };
  const ids = async () => (await tasks.list("limit=1000")).items.map(({ id }) => id);
  const idsIn = (text: string) =>
    (JSON.parse(text) as { results: { task: { id: string } }[] }).results.map(({ task }) => task.id);
  const untilEmpty = () =>
    eventually(async () => expect((await system.management.queue("unacked.request")).total).toBe(0), { timeoutMs: 30_000 });

  beforeEach(async () => {
    system = await freshSystem();
    tasks = new Tasks(system);
  });
  afterEach(async () => {
    await requester.close().catch(() => undefined);
    await system.close();
  });

  const points: [string, CrashPoint, number, number][] = [
    ["has received it and dies before it reads it", "deliver unacked.requests", 1, 0],
    ["has committed and dies before it answers", "publish unacked.request-replies", 1, 1],
    ["has answered and dies before the confirm", "confirm unacked.request-replies", 2, 1],
    ["has answered and dies before it acks", "ack unacked.requests", 2, 1],
  ];
  test.each(inTurn(points))(
    "A manager %s: the next one says the same, and creates nothing",
    async (_, point, answers, repeated) => {
      const doomed = await startManager(diesAt(point));
      await connect();
      const messageId = await requester.publish({ tasks: [LATER, LATER] });
      expect(await doomed.exited).toEqual(KILLED);
      await startManager();
      const reply = await requester.reply(messageId, answers);
      expect((await ids()).toSorted()).toEqual(idsIn(reply.text).toSorted());
      expect(new Set(requester.replies.map(({ text }) => text)).size).toBe(1);
      await untilEmpty();
      expect(requester.replies).toHaveLength(answers);
      const metrics = await scrape(system.url);
      expect(metrics.value("unacked_manager_requests_total", { outcome: "repeated" }) ?? 0).toBe(repeated);
    },
  );

  test.runIf(isTurnOf(1))(
    "A manager has written all of it and dies before the commit: nothing is there, and the next one creates it once",
    async () => {
      const doomed = await startManager();
      await connect();
      const client = new pg.Client(system.env.DATABASE_URL);
      await client.connect();
      await client.query("BEGIN");
      await client.query("LOCK TABLE task_requests IN EXCLUSIVE MODE"); // what is kept last waits for it
      const messageId = await requester.publish({ tasks: [LATER] });
      await eventually(async () => {
        await client.query("SELECT pg_stat_clear_snapshot()"); // in a transaction the first look would be all there ever is
        const { rows } = await client.query(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%task_requests%'",
        );
        expect(rows).toHaveLength(1);
      });
      await doomed.kill("SIGKILL");
      await client.query("ROLLBACK");
      expect((await client.query("SELECT 1 FROM tasks")).rows).toEqual([]);
      await client.end();
      await startManager();
      const { text } = await requester.reply(messageId);
      expect(await ids()).toEqual(idsIn(text));
      await untilEmpty();
      expect(requester.replies).toHaveLength(1);
    },
  );

  test.runIf(isTurnOf(0))(
    "Two managers that are killed and started under load: each request creates once, and all that is said of it is the same",
    async () => {
      let active = await startManager();
      await connect();
      const asked: string[] = [];
      let isOver = false;
      const asking = (async () => {
        while (!isOver) {
          await eventually(() => expect(asked.length - requester.replies.length).toBeLessThan(200), { timeoutMs: 30_000 });
          const some = await Promise.all(
            Array.from({ length: 25 }, (_, i) => requester.publish({ tasks: [{ ...LATER, params: { i } }] })),
          );
          asked.push(...some);
        }
      })();
      for (let round = 0; round < 5; round += 1) {
        const next = await startManager();
        const before = requester.replies.length;
        await eventually(() => expect(requester.replies.length).toBeGreaterThan(before + 20), { timeoutMs: 30_000 });
        await active.kill("SIGKILL");
        active = next;
      }
      isOver = true;
      await asking;
      // Whoever hears nothing asks again.
      await Promise.all(
        asked
          .slice(0, 100)
          .map((messageId, i) => requester.publish({ tasks: [{ ...LATER, params: { i: i % 25 } }] }, { messageId })),
      );
      await Promise.all(asked.map((id) => requester.reply(id)));
      await untilEmpty();
      const said = new Map<string, Set<string>>();
      for (const { correlationId, text } of requester.replies)
        said.set(correlationId, (said.get(correlationId) ?? new Set()).add(text));
      expect([...said.values()].filter((texts) => texts.size !== 1)).toEqual([]);
      const promised = [...said.values()].flatMap((texts) => [...texts].flatMap(idsIn));
      expect(promised).toHaveLength(asked.length);
      expect((await tasks.idsOf("Scheduled")).toSorted()).toEqual(promised.toSorted());
      process.stdout.write(
        `${asked.length} requests over 5 kills: ${requester.replies.length} answers, ${promised.length} tasks\n`,
      );
    },
  );

  test.runIf(isTurnOf(2))(
    "What PostgreSQL refuses, or nobody foresaw, is refused alone, once, and its neighbours are created",
    async () => {
      await startManager();
      await connect();
      const client = new pg.Client(system.env.DATABASE_URL);
      await client.connect();
      await client.query("ALTER TABLE tasks ADD CONSTRAINT nobody CHECK (priority <> 13)");
      await client.query(`CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'unforeseen' USING ERRCODE = 'XX000'; END $$`);
      await client.query(
        "CREATE TRIGGER fault BEFORE INSERT ON tasks FOR EACH ROW WHEN (NEW.priority = 14) EXECUTE FUNCTION fault()",
      );
      await client.end();
      const of = (priority: number) => requester.publish({ tasks: [{ ...LATER, priority }] });
      const asked = await Promise.all([1, 13, 2, 14, 3].map(of));
      const replies = await Promise.all(asked.map((id) => requester.reply(id)));
      expect(replies.map(({ status, body }) => [status, body.code])).toEqual([
        [200, undefined],
        [422, "invalid-body"],
        [200, undefined],
        [500, "internal-error"],
        [200, undefined],
      ]);
      await untilEmpty();
      expect(await ids()).toHaveLength(3);
      expect(requester.replies).toHaveLength(5);
      const { items } = (await system.call<{ items: { reason: string; queue: string }[] }>("GET", "/api/v1/errors")).body;
      expect(items.map(({ reason, queue }) => `${reason} ${queue}`)).toEqual(
        Array(2).fill("refused-by-database unacked.request"),
      );
      expect((await system.call("GET", "/readyz")).status).toBe(200);
    },
  );

  test.runIf(isTurnOf(2))("Queue and exchanges that somebody deletes are declared again, and answers go on", async () => {
    await startManager();
    await connect();
    expect((await requester.ask({ tasks: [LATER] })).status).toBe(200);
    await system.management.deleteQueue("unacked.request");
    const untilAnswered = async () => {
      const messageId = randomUUID();
      await eventually(
        async () => {
          const before = requester.returned;
          await requester.publish({ tasks: [LATER] }, { messageId });
          expect(requester.returned).toBe(before);
        },
        { timeoutMs: 20_000 },
      );
      return requester.reply(messageId);
    };
    expect((await untilAnswered()).status).toBe(200);
    await system.management.call("DELETE", "/exchanges/{vhost}/unacked.request-replies");
    const again = async () => {
      await requester.close().catch(() => undefined);
      await connect(); // its binding went with the exchange
    };
    await eventually(again, { timeoutMs: 20_000 });
    expect((await untilAnswered()).status).toBe(200);
  });

  test.runIf(isTurnOf(1))("Without the setting nothing is declared, and nobody is asked", async () => {
    await system.startManager();
    const exchanges = (await system.management.call("GET", "/exchanges/{vhost}")) as { name: string }[];
    expect(exchanges.map(({ name }) => name)).toContain("unacked.tasks");
    expect(exchanges.filter(({ name }) => name.startsWith("unacked.request"))).toEqual([]);
    expect((await system.management.queues()).filter(({ name }) => name.startsWith("unacked.request"))).toEqual([]);
    await startManager();
    await connect();
  });
});
