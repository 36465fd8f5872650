import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BulkCount, ObserverView, ProblemDetails } from "@unacked/contracts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type ObserverOrProblem, type System } from "../support/system/system.ts";

/** Longer than any test needs: what ends a run here is its stop, and never that it took too long. */
const STOP_TIMEOUT_MS = "120000";
const LONG_MS = 90_000;

describe("observers that are paused", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await untilItMayPause(system.url);
  }, 240_000);
  afterAll(() => system.close());
  // A test that failed must not leave its services to the next.
  afterEach(async () => {
    const left = [...system.services.values()].filter((service) => service.exit() === null);
    await Promise.all(left.map((service) => service.kill("SIGKILL")));
  });

  type Asked = "pause" | "resume" | "restart";
  const ask = (what: Asked, ref: string, query = "", url = system.url) =>
    system.call<ObserverOrProblem>("POST", `/api/v1/observers/${ref}/${what}${query}`, undefined, url);
  const remove = (ref: string) => system.call<ObserverOrProblem>("DELETE", `/api/v1/observers/${ref}`);
  const standing = ({ status, pending }: ObserverView) => [status, pending];
  const queueOf = async (pool: string) => {
    const { ready, unacked } = await system.management.queue(`unacked.work.${pool}`);
    return { ready, unacked };
  };
  const untilQueue = (pool: string, counts: { ready: number; unacked: number }) =>
    eventually(async () => expect(await queueOf(pool)).toEqual(counts), {
      what: `the work queue of ${pool}`,
      timeoutMs: LONG_MS,
    });
  const serve = (pool: string, name: string, workers = 10) =>
    system.startService(`${pool}-${name}`, { workers, env: { POOL: pool, STOP_TIMEOUT_MS } });
  const until = (refs: string[], status: string) => system.untilStatus(refs, status, LONG_MS);
  const runsOf = async (id: string) =>
    (await system.call<{ items: { state: string; revision: number }[] }>("GET", `/api/v1/observers/${id}/runs`)).body.items;

  /** A manager believes that all can pause once it has watched them for some seconds. */
  async function untilItMayPause(url: string): Promise<void> {
    await eventually(async () => expect((await ask("pause", "nobody", "", url)).status).toBe(404), {
      what: "that pauses are taken",
      timeoutMs: 40_000,
    });
  }

  /** An observer that goes on acting after its stop until it is let go. */
  const clinging = () => {
    const letGo = join(temporaryFolder("let-go"), "now");
    return { stopWhenFile: letGo, letGo: () => writeFileSync(letGo, "") };
  };

  it("run no more, have no message, and leave their worker to others; resumed, they run again and nowhere twice", async () => {
    const pool = "plain";
    await serve(pool, "one", 1);
    const { letGo, ...params } = clinging();
    const [kept] = (await system.createMany("kept", 1, params, { pool, labels: { a: "b" } })) as [ObserverView];
    const asked = await ask("pause", kept.id);
    expect([asked.status, ...standing(asked.body)]).toEqual([202, "Processing", "pause"]);
    // While it is being paused it has its place, and says so wherever it is shown.
    expect((await system.listObservers(`&pool=${pool}`)).map(standing)).toEqual([["Processing", "pause"]]);
    expect([(await ask("pause", kept.id)).status, (await ask("restart", kept.id)).body.code]).toEqual([202, "paused"]);
    letGo();
    await until([kept.id], "Paused");
    const paused = await system.get(kept.id);
    expect(paused).toMatchObject({ pending: null, service: null, currentRunId: null, runNumber: 1, labels: { a: "b" } });
    expect((await runsOf(kept.id)).map(({ state }) => state)).toEqual(["Ended"]);
    await untilQueue(pool, { ready: 0, unacked: 0 });
    expect((await ask("pause", kept.id)).status).toBe(200);
    expect((await ask("restart", kept.id)).body.code).toBe("paused");
    expect((await system.create("kept-0", {}, { pool, whenFull: "queue" })).body.code).toBe("name-taken");

    const [guest] = (await system.createMany("guest", 1, {}, { pool })) as [ObserverView];
    await system.check({ pool, timeoutMs: LONG_MS });
    const full = await ask("resume", kept.id);
    expect([full.status, full.body.code]).toEqual([503, "no-free-worker"]);
    expect((await system.get(kept.id)).status).toBe("Paused");
    const queued = await ask("resume", kept.id, "?whenFull=queue");
    expect([queued.status, queued.body.status, queued.body.revision]).toEqual([202, "Created", 2]);
    await system.remove(guest.id);
    await until([kept.id], "Processing");
    expect(await runsOf(kept.id)).toMatchObject([
      { state: "Current", revision: 2 },
      { state: "Ended", revision: 1 },
    ]);
    expect((await ask("resume", kept.id)).body.code).toBe("not-paused");
    await system.check({ pool, timeoutMs: LONG_MS });
    expect(system.reportOverlap("paused and resumed", [kept])).toBe(0);
  });

  it.runIf(isTurnOf(2))("can be stopped for good at once; what is over cannot be paused", async () => {
    const pool = "ends";
    await serve(pool, "one");
    const [kept] = (await system.createMany("ending", 1, {}, { pool })) as [ObserverView];
    expect((await system.create("done-0", { returnAfterMs: 300 }, { pool })).status).toBe(201);
    await until(["done-0"], "Completed");
    expect([(await ask("pause", "done-0")).body.code, (await ask("resume", "done-0")).body.code]).toEqual([
      "not-pausable",
      "not-paused",
    ]);
    await ask("pause", kept.id);
    await until([kept.id], "Paused");
    const gone = await remove(kept.id);
    expect([gone.status, gone.body.status]).toEqual([202, "Deleted"]);
    expect([(await ask("pause", kept.id)).body.code, (await ask("resume", kept.id)).body.code]).toEqual([
      "already-deleted",
      "already-deleted",
    ]);
    await untilQueue(pool, { ready: 0, unacked: 0 });
    // Its name is free again.
    await system.createMany("ending", 1, {}, { pool });
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(0))("whose pause is taken back while it is under way run again, once", async () => {
    const pool = "back";
    await serve(pool, "one");
    const { letGo, ...params } = clinging();
    const [one] = (await system.createMany("regretted", 1, params, { pool })) as [ObserverView];
    await ask("pause", one.id);
    const back = await ask("resume", one.id);
    expect([back.status, ...standing(back.body)]).toEqual([202, "Processing", null]);
    letGo();
    await eventually(
      async () => {
        const now = await system.get(one.id);
        // The stop was under way, or it was taken back before it was sent.
        expect([now.status, now.runNumber]).toEqual(["Processing", now.revision]);
      },
      { timeoutMs: LONG_MS },
    );
    await system.check({ pool, timeoutMs: LONG_MS });
    const { revision } = await system.get(one.id);
    console.log(`a pause taken back: ${revision === 1 ? "its run went on" : `run ${revision}, by a new message`}`);
    expect(system.reportOverlap("a pause taken back", [one])).toBe(0);
  });

  it.runIf(isTurnOf(0))(
    "before they ever started, never start: their message is refused when a worker gets to it",
    async () => {
      const pool = "queued";
      await serve(pool, "one", 1);
      const [holder] = (await system.createMany("holder", 1, {}, { pool })) as [ObserverView];
      const { body: waiting } = await system.create("queued", {}, { pool, whenFull: "queue" });
      await untilQueue(pool, { ready: 1, unacked: 1 });
      const asked = await ask("pause", waiting.id);
      expect([asked.status, ...standing(asked.body)]).toEqual([202, "Created", "pause"]);
      await system.remove(holder.id);
      await until([waiting.id], "Paused");
      await untilQueue(pool, { ready: 0, unacked: 0 });
      expect([system.acts().some(({ observerId }) => observerId === waiting.id), await runsOf(waiting.id)]).toEqual([
        false,
        [],
      ]);
      expect((await ask("resume", waiting.id)).status).toBe(202);
      await until([waiting.id], "Processing");
      await system.check({ pool, timeoutMs: LONG_MS });
    },
  );

  it.runIf(isTurnOf(2))(
    "while they wait for their next attempt keep what they failed of, and are not tried again",
    async () => {
      const pool = "retrying";
      await serve(pool, "one");
      const { body: one } = await system.create(
        "trying",
        { throwAfterMs: 50 },
        { pool, retry: { maxAttempts: 9, delaysMs: [3_600_000] } },
      );
      await until([one.id], "Retrying");
      await ask("pause", one.id);
      await until([one.id], "Paused");
      expect(await system.get(one.id)).toMatchObject({ attempts: 1, nextAttemptAt: null, lastError: { name: "Error" } });
      await untilQueue(pool, { ready: 0, unacked: 0 });
      await ask("resume", one.id);
      await until([one.id], "Retrying");
      expect((await system.get(one.id)).runNumber).toBe(2);
      await ask("pause", one.id);
      await until([one.id], "Paused");
      await system.check({ pool, timeoutMs: LONG_MS });
    },
  );

  it.runIf(isTurnOf(0))("while nobody has them are Paused as soon as somebody gets their message", async () => {
    const pool = "dead";
    const service = await serve(pool, "one");
    const [one] = (await system.createMany("orphan", 1, {}, { pool })) as [ObserverView];
    await service.kill("SIGKILL");
    await until([one.id], "Redistributing");
    const asked = await ask("pause", one.id);
    expect([asked.status, ...standing(asked.body)]).toEqual([202, "Redistributing", "pause"]);
    await serve(pool, "two");
    await until([one.id], "Paused");
    await untilQueue(pool, { ready: 0, unacked: 0 });
    await system.check({ pool, timeoutMs: LONG_MS });
    await ask("resume", one.id);
    await until([one.id], "Processing");
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(1))("as their service is killed are Paused all the same, and run nowhere", async () => {
    const pool = "failover";
    const service = await serve(pool, "one");
    const observers = await system.createMany("moving", 10, {}, { pool });
    const ids = observers.map(({ id }) => id);
    await serve(pool, "two");
    const [asked] = await Promise.all([
      system.call<{ results: { status: number }[] }>("POST", "/api/v1/observers/pause", { ids }),
      service.kill("SIGKILL"),
    ]);
    expect(asked.body.results.map(({ status }) => status)).toEqual(ids.map(() => 202));
    await until(ids, "Paused");
    await untilQueue(pool, { ready: 0, unacked: 0 });
    await system.check({ pool, timeoutMs: LONG_MS });
    console.log(
      `paused as their service died: runs so far ${(await system.observers(ids)).map(({ runNumber }) => runNumber)}`,
    );
    await system.call("POST", "/api/v1/observers/resume", { ids });
    await until(ids, "Processing");
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(1))("by a filter are paused and resumed together", async () => {
    const pool = "crowd";
    await Promise.all([serve(pool, "one", 60), serve(pool, "two", 60)]);
    const observers = await system.createMany("crowd", 100, { everyMs: 200 }, { pool, labels: { crowd: "yes" } });
    const ids = observers.map(({ id }) => id);
    const filter = { labels: { crowd: "yes" } };
    const change = (what: Asked, more: object = {}) =>
      system.call<BulkCount & ProblemDetails>("POST", `/api/v1/observers/${what}`, { filter, ...more });
    expect((await change("pause", { dryRun: true })).body).toEqual({ matched: 100, accepted: 100, refused: {} });
    const askedMs = performance.now();
    expect((await change("pause")).body).toEqual({ matched: 100, accepted: 100, refused: {} });
    await until(ids, "Paused");
    console.log(`100 paused by a filter: ${Math.round(performance.now() - askedMs)} ms`);
    await untilQueue(pool, { ready: 0, unacked: 0 });
    await system.check({ pool, timeoutMs: LONG_MS });
    expect((await change("restart")).body.refused).toEqual({ paused: 100 });
    await system.createMany("beside", 21, { everyMs: 200 }, { pool });
    expect((await change("resume")).body).toEqual({ matched: 100, accepted: 99, refused: { "no-free-worker": 1 } });
    expect((await change("resume", { whenFull: "queue" })).body).toMatchObject({ accepted: 1 });
    await eventually(async () => expect((await system.listObservers(`&pool=${pool}&status=Processing`)).length).toBe(120), {
      timeoutMs: LONG_MS,
    });
    expect(system.reportOverlap("100 paused and resumed", observers)).toBe(0);
  });

  it.runIf(isTurnOf(2))("are finished by another manager when the one that answered is killed at that moment", async () => {
    const pool = "managers";
    const { url } = system;
    const first = system.managers[0];
    const second = await system.startManager({ speakTo: false });
    const { url: other } = await second.waitForEvent("listening");
    await serve(pool, "one");
    const { letGo, ...params } = clinging();
    const observers = await system.createMany("handed", 10, params, { pool });
    const ids = observers.map(({ id }) => id);
    await untilItMayPause(url);
    const asked = await system.call<{ results: { status: number }[] }>("POST", "/api/v1/observers/pause", { ids });
    await first?.kill("SIGKILL");
    expect(asked.body.results.map(({ status }) => status)).toEqual(ids.map(() => 202));
    system.url = String(other);
    letGo();
    await until(ids, "Paused");
    await untilQueue(pool, { ready: 0, unacked: 0 });
    await system.check({ pool, timeoutMs: LONG_MS });
    await system.call("POST", "/api/v1/observers/resume", { ids });
    await until(ids, "Processing");
    await system.check({ pool, timeoutMs: LONG_MS });
    expect(system.reportOverlap("paused as the manager died, and resumed", observers)).toBe(0);
  });
});
