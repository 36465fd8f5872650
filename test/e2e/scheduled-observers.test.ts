import type { ObserverView, ProblemDetails, Stats } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { diesAt } from "../support/processes/crash-point.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { freshSystem, type ObserverOrProblem, type System } from "../support/system/system.ts";
import { TASKS_DIR } from "../support/system/tasks.ts";

/** docs/decisions/0018-scheduled-observers.md */
const LONG_MS = 90_000;

describe("observers that are to start later", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await eventually(async () => expect(await create("probe", 3_600_000)).toMatchObject({ status: 201 }), {
      what: "that observers with a time are taken",
      timeoutMs: 40_000,
    });
  }, 240_000);
  afterAll(() => system.close());

  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const create = (name: string, laterMs: number, more: object = {}) =>
    system.create(name, {}, { startAt: inMs(laterMs), ...more });
  const ask = (what: "pause" | "resume" | "restart", ref: string, query = "") =>
    system.call<ObserverOrProblem>("POST", `/api/v1/observers/${ref}/${what}${query}`);
  const serve = (pool: string, workers = 10) => system.startService(`${pool}-one`, { workers, env: { POOL: pool } });
  const until = (refs: string[], status: string) => system.untilStatus(refs, status, LONG_MS);
  const runsOf = async (id: string) =>
    (await system.call<{ items: { startedAt: string }[] }>("GET", `/api/v1/observers/${id}/runs`)).body.items;

  it("take a name, no message and no worker until then; then they start, once", async () => {
    const pool = "later";
    await serve(pool, 1);
    const startAt = inMs(10_000);
    const made = await system.create("one", {}, { pool, startAt });
    expect([made.status, made.body]).toMatchObject([
      201,
      { status: "Scheduled", startAt, startProblem: null, service: null },
    ]);
    // It is there: the same again is it, its name is taken, and its time has to be the same.
    const same = { id: made.body.id, pool };
    expect((await system.create("one", {}, { ...same, startAt })).status).toBe(200);
    expect((await system.create("one", {}, { ...same, startAt: inMs(9_000_000) })).body.code).toBe("id-taken");
    expect((await system.create("one", {}, { pool })).body.code).toBe("name-taken");
    expect((await system.call<Stats>("GET", "/api/v1/stats")).body.observers.byStatus.Scheduled).toBe(2);
    // The only worker is free for others meanwhile.
    const [guest] = (await system.createMany("guest", 1, {}, { pool })) as [ObserverView];
    await until([guest.id], "Processing");
    expect((await ask("restart", "one")).body).toMatchObject({ status: 409, code: "scheduled" });
    expect((await ask("resume", "one")).body.code).toBe("not-paused");
    await system.remove(guest.id);
    await until(["one"], "Processing");
    const runs = await runsOf(made.body.id);
    expect(runs).toHaveLength(1);
    const lateMs = Date.parse(runs[0]?.startedAt ?? "") - Date.parse(startAt);
    expect(lateMs).toBeGreaterThanOrEqual(-100);
    console.log(`started ${lateMs} ms after its time`);
    expect(await system.get("one")).toMatchObject({ startAt, startProblem: null });
  });

  it.runIf(isTurnOf(2))("wait for a worker where they must find one, and say so; else in the queue", async () => {
    const pool = "full";
    await serve(pool, 1);
    const [guest] = (await system.createMany("stays", 1, {}, { pool })) as [ObserverView];
    await until([guest.id], "Processing");
    const [must, may] = [await create("must", 3_000, { pool }), await create("may", 3_000, { pool, whenFull: "queue" })];
    expect([must.body.status, may.body.status]).toEqual(["Scheduled", "Scheduled"]);
    await until(["may"], "Created");
    await eventually(async () =>
      expect(await system.get("must")).toMatchObject({ status: "Scheduled", startProblem: "no-free-worker" }),
    );
    await system.remove(guest.id);
    await until(["may"], "Processing");
    expect((await system.get("must")).status).toBe("Scheduled");
    await system.remove("may");
    await until(["must"], "Processing");
    expect(await system.get("must")).toMatchObject({ startProblem: null });
  });

  it("are told of among the warnings, and wait since their time, where nobody could run them then", async () => {
    const pool = "night";
    const { startAt } = (await create("owl", 2_000, { pool })).body;
    const warningsOf = async () =>
      (await system.stats()).warnings.flatMap(({ code, subject }) =>
        subject === pool || subject === "stamp" ? [code] : [],
      );
    await eventually(async () => expect(await warningsOf()).toEqual(["no-service"]));
    expect((await system.stats()).oldestWaiting).toMatchObject({ name: "owl", status: "Scheduled", since: startAt });
    await system.startService("without-the-type", { env: { POOL: pool, OBSERVERS_DIR: TASKS_DIR } });
    await eventually(async () => expect(await warningsOf()).toEqual(["type-not-served"]));
    await serve(pool);
    await until(["owl"], "Processing");
    expect(await warningsOf()).toEqual([]);
    expect((await system.stats()).oldestWaiting).toBeNull();
  });

  it.runIf(isTurnOf(1))(
    "are Deleted and Paused at once; resumed before their time they wait for it, after it they start",
    async () => {
      const pool = "hold";
      await serve(pool);
      const [gone, early, late] = [
        await create("gone", 3_600_000, { pool }),
        await create("early", 20_000, { pool }),
        await create("late", 10_000, { pool }),
      ];
      const removed = await system.call<ObserverOrProblem>("DELETE", `/api/v1/observers/${gone.body.id}`);
      expect(removed.body.status).toBe("Deleted");
      for (const { body } of [early, late]) {
        const paused = await ask("pause", body.id);
        expect([paused.status, paused.body.status]).toEqual([200, "Paused"]);
      }
      const resumed = await ask("resume", early.body.id);
      expect([resumed.status, resumed.body.status]).toEqual([202, "Scheduled"]);
      await until([early.body.id], "Processing");
      expect((await system.get(late.body.id)).status).toBe("Paused");
      expect((await ask("resume", late.body.id)).body.status).toBe("Created");
      await until([late.body.id], "Processing");
      expect([(await runsOf(early.body.id)).length, (await runsOf(late.body.id)).length]).toEqual([1, 1]);
    },
  );

  it("are due by PostgreSQL's clock, and one whose time has passed starts at once", async () => {
    const pool = "clock";
    await serve(pool);
    const past = await create("past", -5_000, { pool });
    expect(past.body).toMatchObject({ status: "Created", startProblem: null });
    await until(["past"], "Processing");
    const problem = await system.create("wrong", {}, { pool, startAt: "tomorrow" });
    expect(problem.body as unknown as ProblemDetails).toMatchObject({
      code: "invalid-body",
      errors: [{ pointer: "/startAt" }],
    });
  });
});

it.runIf(isTurnOf(0))(
  "Each starts once, however managers die around its time",
  async () => {
    const system = await freshSystem();
    try {
      const doomed = await system.startManager({ env: diesAt("publish unacked.start", 5) });
      const second = await system.startManager();
      await system.startService("worker", { workers: 300 });
      await eventually(
        async () =>
          expect(
            (await system.create("probe", {}, { startAt: new Date(Date.now() + 3_600_000).toISOString() })).status,
          ).toBe(201),
        { timeoutMs: 40_000 },
      );
      const startAt = new Date(Date.now() + 5_000).toISOString();
      const observers = Array.from({ length: 200 }, (_, i) => ({
        name: `o-${i}`,
        type: "stamp",
        params: { file: system.actsFile },
        startAt,
      }));
      const { body } = await system.call<{ results: { status: number }[] }>("POST", "/api/v1/observers/batch", {
        observers,
      });
      expect(body.results.filter(({ status }) => status !== 201)).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(startAt) - Date.now())));
      await eventually(async () => {
        const [row] = await queryRows<{ count: number }>(
          system.env.DATABASE_URL as string,
          "SELECT count(*)::int AS count FROM observers WHERE name LIKE 'o-%' AND status <> 'Scheduled'",
        );
        expect(row?.count).toBeGreaterThan(0);
      });
      await second.kill("SIGKILL");
      await doomed.kill("SIGKILL").catch(() => undefined);
      await system.startManager();
      await system.startManager({ speakTo: false });
      const names = observers.map(({ name }) => name);
      await system.untilStatus(names, "Processing", LONG_MS);
      const rows = await queryRows<{ runs: number; revision: number; early: boolean }>(
        system.env.DATABASE_URL as string,
        `SELECT count(r.id)::int AS runs, o.revision, bool_or(r.started_at < o.start_at - interval '0.1 s') AS early
       FROM observers o JOIN runs r ON r.observer_id = o.id WHERE o.name LIKE 'o-%' GROUP BY o.id, o.revision`,
      );
      expect(rows).toHaveLength(200);
      expect(rows.filter(({ runs, revision, early }) => runs !== 1 || revision !== 2 || early)).toEqual([]);
      await system.check({ timeoutMs: LONG_MS });
    } finally {
      await system.close();
    }
  },
  240_000,
);
