import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BatchResults, ObserverView, Readiness } from "@unacked/contracts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnBroker, systemOnOwnBroker } from "../support/broker/own-broker.ts";
import { memoryAlarm } from "../support/broker/rabbitmqctl.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import type { System } from "../support/system/system.ts";

const HEARTBEAT_S = 4;

describe.runIf(isTurnOf(2))("while a memory alarm blocks everybody who publishes", () => {
  let own: OwnBroker;
  let system: System;
  let dir: string;
  let books: pg.Pool;

  beforeAll(async () => {
    own = await systemOnOwnBroker({ heartbeatS: HEARTBEAT_S });
    ({ system, dir } = own);
    books = new pg.Pool({ connectionString: own.databaseUrl });
    await system.startManager();
  });
  afterAll(async () => {
    await books?.end();
    await own?.close();
  });

  it("a frozen service's observers run on the other within 4 heartbeats, and no end is acked before it is told", async () => {
    const frozen = await system.startService("service-1", { workers: 10 });
    const moving = await system.createMany("moving", 10);
    const other = await system.startService("service-2", { workers: 10 });
    const ending = await system.startService("service-3", { workers: 5, env: { POOL: "ending" } });
    const [stopped, kept] = (await system.createMany("stopped", 2, {}, { pool: "ending" })) as [ObserverView, ObserverView];
    const returnWhenFile = join(temporaryFolder("alarm"), "return");
    const returning = await system.createMany("returning", 3, { returnWhenFile }, { pool: "ending" });
    await memoryAlarm(dir, true);
    expect((await system.call("DELETE", `/api/v1/observers/${stopped.id}`)).status).toBe(202);
    writeFileSync(returnWhenFile, "");

    await frozen.kill("SIGSTOP");
    const frozenMs = performance.now();
    const ids = moving.map((one) => one.id);
    await eventually(() => expect(system.actingByPid().get(other.pid)).toEqual(new Set(ids)), {
      timeoutMs: 4 * HEARTBEAT_S * 1_000,
    });
    console.log(
      `alarm on, service frozen: its 10 observers run elsewhere after ${(performance.now() - frozenMs).toFixed(0)} ms`,
    );
    const { queues } = (await system.call<{ queues: { queue: string }[] }>("GET", "/api/v1/stats")).body;
    expect(queues).toContainEqual(expect.objectContaining({ queue: "unacked.task-state", ready: 0 }));
    // Nobody can say that it is well: each is silent for long, and it is the broker's doing.
    await eventually(async () => {
      const services = await system.listServices();
      expect(services.map(({ state }) => state)).toEqual(services.map(() => "Suspect"));
    });
    const { warnings } = await system.stats();
    expect(warnings.map(({ code }) => code)).toContain("broker-blocks");
    expect(warnings.filter(({ code }) => code === "service-suspect")).toEqual([]);
    await frozen.kill("SIGKILL"); // what it would do on waking is another test's

    // Their handlers have returned, and cannot say so: the messages stay unacked, so that nothing is lost if they die.
    const { url } = await ending.waitForEvent("listening");
    const readiness = async () => {
      const answer = await fetch(`${String(url)}/readyz`);
      return { status: answer.status, body: (await answer.json()) as { eventsWaiting: number; publisher: object } };
    };
    await eventually(() =>
      expect([...(system.actingByPid().get(ending.pid) ?? [])].toSorted()).toEqual([kept.id, stopped.id].toSorted()),
    );
    await eventually(async () => expect((await readiness()).body.eventsWaiting).toBeGreaterThanOrEqual(3));
    expect(await readiness()).toMatchObject({ status: 503, body: { publisher: { up: true, blocked: true } } });
    expect(await system.management.queue("unacked.work.ending")).toMatchObject({ unacked: 5, ready: 0 });
    expect((await system.observers(returning.map((one) => one.id))).map((one) => one.status)).toEqual(
      returning.map(() => "Processing"),
    );
    expect((await system.get(stopped.id)).status).toBe("OnDeleting");

    await memoryAlarm(dir, false);
    const endedMs = performance.now();
    await system.untilStatus(
      returning.map((one) => one.id),
      "Completed",
    );
    await system.untilStatus([stopped.id], "Deleted");
    console.log(`alarm over: every end is in the books after ${(performance.now() - endedMs).toFixed(0)} ms`);
    await system.check();
  }, 240_000);

  it("what is being sent when it comes holds nobody up, and is sent once, also where other managers are free to take it over", async () => {
    await memoryAlarm(dir, true);
    const [forced, held] = (await create("forced", "held")) as [string, string]; // both are in the socket when the broker tells that it blocks
    await untilBlocked(system.url);
    const others = await create("other-1", "other-2", "other-3");

    const askedMs = performance.now();
    const { status, body } = await system.call("DELETE", `/api/v1/observers/${forced}?force=true`);
    expect({ status, body }).toMatchObject({ status: 202, body: { status: "Deleted" } });
    console.log(`alarm on: a delete by force is answered after ${(performance.now() - askedMs).toFixed(0)} ms`);
    system.mayStartOnceMore(forced);
    // Between two statements of one a look may come; who waits for the broker in one is there at each look.
    await eventually(
      async () =>
        expect(
          await query("SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state ~ '^idle in'"),
        ).toEqual([]),
      { timeoutMs: 3_000, what: "that no transaction waits" },
    );

    // The second takes the others and is blocked with them; the third is free for whatever is nobody's.
    await untilBlocked(await anotherManager());
    await eventually(async () =>
      expect(
        await query(`SELECT claimed_at < now() - interval '12 s' AS old, due_at > now() AS "isHeld" FROM commands
                          WHERE observer_id = '${held}'`),
      ).toEqual([{ old: true, isHeld: true }]),
    );
    await anotherManager();
    await memoryAlarm(dir, false);
    await eventually(async () => expect(await query("SELECT kind FROM commands WHERE kind = 'start'")).toEqual([]));
    await eventually(async () => {
      const messages = await system.management.get("unacked.work.alarmed", { requeue: true });
      const ids = messages.map(({ body }) => (JSON.parse(String(body)) as { observerId: string }).observerId);
      expect(ids.toSorted()).toEqual([forced, held, ...others].toSorted());
    });

    // An end in order while the broker blocks: what is not known to have arrived is left to the next manager.
    await memoryAlarm(dir, true);
    const late = await create("late-1", "late-2");
    await eventually(async () =>
      expect(await query("SELECT kind FROM commands WHERE kind = 'start' AND claimed_at IS NOT NULL")).toHaveLength(2),
    );
    const endingMs = performance.now();
    const exits = await Promise.all(system.managers.map((each) => each.kill("SIGTERM")));
    const tookMs = performance.now() - endingMs;
    console.log(`alarm on: managers end ${tookMs.toFixed(0)} ms after SIGTERM`);
    expect(exits).toEqual(exits.map(() => ({ code: 0, signal: null })));
    expect(tookMs).toBeLessThan(40_000);
    await memoryAlarm(dir, false);
    await system.startManager();
    await system.startService("service-4", { workers: 20, env: { POOL: "alarmed" } });
    await system.untilStatus([held, ...others, ...late], "Processing");
    // What was in a socket at the end may have arrived beside its successor's: two run until the manager has heard of it.
    await system.check({ maxOverlapMs: 5_000 });
  }, 240_000);

  /** All in one commit, in a pool that nobody serves yet. */
  async function create(...names: string[]): Promise<string[]> {
    const observers = names.map((name) => ({
      name,
      type: "stamp",
      params: { file: system.actsFile },
      pool: "alarmed",
      whenFull: "queue",
    }));
    const { body } = await system.call<BatchResults>("POST", "/api/v1/observers/batch", { observers });
    return body.results.map((result) => {
      if (!("observer" in result)) throw new Error(`not created: ${JSON.stringify(result)}`);
      return result.observer.id;
    });
  }

  const query = async (sql: string): Promise<object[]> => (await books.query<object>(sql)).rows;

  const untilBlocked = (url: string) =>
    eventually(async () => {
      const { body } = await system.call<Readiness>("GET", "/readyz", undefined, url);
      expect(body.checks["broker"]?.detail).toContain("the broker blocks what is published");
    });

  async function anotherManager(): Promise<string> {
    const manager = await system.startManager({ untilReady: false, speakTo: false });
    return String((await manager.waitForEvent("listening"))["url"]);
  }
});
