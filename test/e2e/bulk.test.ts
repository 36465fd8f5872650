import type {
  BatchResults,
  BulkCount,
  BulkResults,
  ErrorGroupList,
  ErrorPage,
  ObserverView,
  TypeList,
} from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const OBSERVERS = "/api/v1/observers";

/** Rarely acting ones, so that thousands of them leave the machine to the system. */
const quiet = (name: string, more: object = {}) => ({ name, type: "stamp", params: { everyMs: 600_000 }, ...more });

describe("many at once", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await Promise.all(["service-1", "service-2"].map((name) => system.startService(name, { workers: 6_000 })));
  });
  afterAll(() => system.close());

  const count = async (query: string) =>
    (await system.call<{ total: number }>("GET", `${OBSERVERS}?limit=1&${query}`)).body.total;
  const untilCount = (query: string, expected: number) =>
    eventually(async () => expect(await count(query)).toBe(expected), {
      timeoutMs: 60_000,
      what: `${expected} of ${query}`,
    });
  const stop = <T>(json: object) => system.call<T>("POST", `${OBSERVERS}/stop`, json);

  it("of a batch each runs, or says why not; a filter stops those it means, and no other", async () => {
    const { status, body } = await system.call<BatchResults>("POST", `${OBSERVERS}/batch`, {
      observers: [
        ...Array.from({ length: 20 }, (_, i) => ({
          name: `b-${i}`,
          type: "stamp",
          params: { file: system.actsFile, everyMs: 50 },
          labels: { half: i % 2 === 0 ? "even" : "odd" },
        })),
        { name: "b-0", type: "stamp" },
        { name: "no name" },
        { name: "z", type: "unheard-of" },
      ],
    });
    expect(status).toBe(200);
    expect(body.results.map((one) => one.status)).toEqual([...Array.from({ length: 20 }, () => 201), 409, 422, 422]);
    await untilCount("status=Processing", 20);
    await system.check();
    const stopped = await stop<BulkCount>({ filter: { labels: { half: "even" } } });
    expect(stopped.body).toEqual({ matched: 10, accepted: 10, refused: {} });
    await untilCount("status=Deleted", 10);
    await system.check();
    const restarted = await system.call<BulkCount>("POST", `${OBSERVERS}/restart`, { filter: { status: "Processing" } });
    expect(restarted.body).toEqual({ matched: 10, accepted: 10, refused: {} });
    await eventually(async () => {
      const all = await system.listObservers("&status=Processing");
      expect(all.map((one) => one.epoch)).toEqual(Array.from({ length: 10 }, () => 2));
    });
    await system.check();
    expect((await stop<BulkResults>({ names: ["b-1", "b-2"] })).body.results.map((one) => one.status)).toEqual([202, 409]);
    await stop({ all: true });
    await untilCount("status=Deleted", 20);
  });

  it.runIf(isTurnOf(1))(
    "ten thousand are created, run, and are stopped, each by one call",
    { timeout: 360_000 },
    async () => {
      const startedAt = performance.now();
      const seconds = () => `${((performance.now() - startedAt) / 1_000).toFixed(2)} s`;
      const created = await system.call<BatchResults>("POST", `${OBSERVERS}/batch`, {
        observers: Array.from({ length: 10_000 }, (_, i) => quiet(`n-${i}`, { labels: { crowd: "n" } })),
      });
      console.log(`10,000 created: accepted after ${seconds()}`);
      expect(new Set(created.body.results.map((one) => one.status))).toEqual(new Set([201]));
      await untilCount("status=Processing", 10_000);
      console.log(`10,000 created: all Processing after ${seconds()}`);
      await eventually(async () => expect((await system.management.queue("unacked.work.default")).unacked).toBe(10_000));
      const stoppingAt = performance.now();
      const stopped = await stop<BulkCount>({ filter: { labels: { crowd: "n" } } });
      const acceptedMs = Math.round(performance.now() - stoppingAt);
      expect(stopped.body).toEqual({ matched: 10_000, accepted: 10_000, refused: {} });
      await untilCount("status=Deleted&label=crowd:n", 10_000);
      console.log(
        `10,000 stopped: accepted after ${acceptedMs} ms, all Deleted after ${Math.round(performance.now() - stoppingAt)} ms`,
      );
      await eventually(async () => {
        expect(await system.management.queue("unacked.work.default")).toMatchObject({ unacked: 0, ready: 0 });
      });
    },
  );

  it.runIf(isTurnOf(2))(
    "a manager killed in the middle of a stop: what it did stays done, and the same call again does the rest",
    async () => {
      const names = Array.from({ length: 5_000 }, (_, i) => `k-${i}`);
      await system.call("POST", `${OBSERVERS}/batch`, {
        observers: names.map((name) => quiet(name, { labels: { crowd: "k" } })),
      });
      await untilCount("status=Processing", 5_000);
      const answer = stop<BulkResults>({ names }).then(
        () => "answered",
        () => "cut off",
      );
      await eventually(async () => expect(await count("label=crowd:k&status=OnDeleting,Deleted")).toBeGreaterThan(0), {
        what: "the first stops",
      });
      await system.managers[0]?.kill("SIGKILL");
      console.log(`the stop of 5,000 was ${await answer} as the manager was killed`);
      await system.startManager();
      const again = await stop<BulkResults>({ names });
      const codes = again.body.results.map((one) => ("problem" in one ? one.problem.code : one.status));
      expect(
        codes.filter((code) => ![202, "already-deleting", "observer-not-found", "already-deleted"].includes(code)),
      ).toEqual([]);
      await untilCount("status=Deleted&label=crowd:k", 5_000);
      await eventually(async () => {
        expect(await system.management.queue("unacked.work.default")).toMatchObject({ unacked: 0, ready: 0 });
      });
    },
  );

  it.runIf(isTurnOf(0))("errors of one cause are one group: retried one by one or together, and removed", async () => {
    await system.startService("alone", { env: { POOL: "alone" } });
    const more = { pool: "alone", retry: { maxAttempts: 1 } };
    for (const i of [1, 2, 3]) await system.create(`fails-${i}`, { throwAfterMs: 10, throwTimes: 1 }, more);
    await untilCount("status=Failed", 3);
    const grouped = async () => (await system.call<ErrorGroupList>("GET", "/api/v1/errors/groups")).body;
    await eventually(async () => {
      expect((await grouped()).items).toMatchObject([
        { reason: "retries-used-up", group: "Error: thrown on request", count: 3 },
      ]);
    });
    const { body: mine } = await system.call<ErrorPage>("GET", "/api/v1/errors?observer=fails-1");
    const [error] = mine.items;
    const retried = await system.call<ObserverView>("POST", `/api/v1/errors/${error?.id}/retry`);
    expect(retried.status).toBe(202);
    await system.untilStatus(["fails-1"], "Processing");
    expect((await system.call("POST", `/api/v1/errors/${error?.id}/retry`)).body).toMatchObject({ code: "not-retryable" });
    expect((await system.call("DELETE", `/api/v1/errors/${error?.id}`)).status).toBe(204);
    expect((await grouped()).items).toMatchObject([{ count: 2 }]);
    const filter = { status: "Failed", errorGroup: "Error: thrown on request" };
    const together = await system.call<BulkCount>("POST", `${OBSERVERS}/restart`, { filter });
    expect(together.body).toMatchObject({ matched: 2, accepted: 2 });
    await system.untilStatus(["fails-1", "fails-2", "fails-3"], "Processing");
    const { body: types } = await system.call<TypeList>("GET", "/api/v1/types");
    expect(types.items).toMatchObject([
      { type: "stamp", services: ["alone", "service-1", "service-2"], pools: ["alone", "default"] },
    ]);
    await system.check();
  });
});
