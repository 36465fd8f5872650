import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

interface Readiness {
  ready: boolean;
  pools: Record<string, { ready: boolean; running: number; workerCount: number; draining: boolean }>;
}

describe("one process that serves several pools", () => {
  let system: System;
  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
  });
  afterEach(() => system.close());

  const startBoth = async (name: string, pools: string) => {
    const both = await system.startService(name, { env: { POOL: pools }, untilKnown: false });
    await eventually(async () => {
      const known = await system.listServices();
      expect(known.filter(({ pid, state }) => pid === both.pid && state === "Alive")).toHaveLength(2);
    });
    const { url } = await both.waitForEvent("listening");
    return { both, url: String(url) };
  };
  const readiness = async (url: string) => (await (await fetch(`${url}/readyz`)).json()) as Readiness;
  const placesOf = async (ids: string[]) => (await system.observers(ids)).map(({ service }) => service?.name);

  test("is a service of its own in each: with its workers, its slots, its orders; and one health, one scrape", async () => {
    const { both, url } = await startBoth("both", "fast:2,default:5");
    const fast = await system.createMany("fast", 2, {}, { pool: "fast" });
    const slow = await system.createMany("slow", 3);
    await eventually(async () => {
      expect(await placesOf(fast.map(({ id }) => id))).toEqual(["both:fast", "both:fast"]);
      expect(new Set(await placesOf(slow.map(({ id }) => id)))).toEqual(new Set(["both:default"]));
      expect(await readiness(url)).toMatchObject({
        ready: true,
        pools: { fast: { running: 2, workerCount: 2 }, default: { running: 3, workerCount: 5 } },
      });
    });
    // What is full in one pool is not filled up by the other.
    const { status, body } = await system.create("fast-2", {}, { pool: "fast" });
    expect([status, (body as { code?: string }).code]).toEqual([503, "no-free-worker"]);

    await eventually(async () => {
      const metrics = await scrape(url);
      expect(metrics.value("unacked_service_runs", { pool: "fast", phase: "running" })).toBe(2);
      expect(metrics.value("unacked_service_runs", { pool: "default", phase: "running" })).toBe(3);
      expect(metrics.value("unacked_service_ready", { pool: "fast" })).toBe(1);
      expect(metrics.value("unacked_service_info", { service: "both", pool: "fast,default" })).toBe(1);
      expect(metrics.value("process_cpu_seconds_total")).toBeGreaterThan(0);
    });

    await system.call("POST", "/api/v1/services/both:fast/drain");
    await eventually(async () =>
      expect((await readiness(url)).pools).toMatchObject({ fast: { draining: true, running: 0 }, default: { running: 3 } }),
    );
    await both.kill("SIGTERM");
    expect(both.lines.filter((line) => line.includes('"event":"drained"'))).toHaveLength(1);
    await eventually(async () => expect(await system.listServices()).toEqual([])); // both have said farewell
  });

  test.runIf(isTurnOf(0))("dies in both when it is killed, and what it ran is elsewhere, in both", async () => {
    const { both } = await startBoth("one", "fast:5,default:5");
    const ids = [...(await system.createMany("fast", 4, {}, { pool: "fast" })), ...(await system.createMany("slow", 4))].map(
      ({ id }) => id,
    );
    await startBoth("two", "fast:5,default:5");
    await both.kill("SIGKILL");
    await eventually(async () => expect(new Set(await placesOf(ids))).toEqual(new Set(["two:fast", "two:default"])));
    await system.untilStatus(ids, "Processing");
    await system.check();
  });

  test.runIf(isTurnOf(1))("is refused with what would be right, where nobody says how many each is to run", async () => {
    const wrong = await system.startService("wrong", {
      env: { POOL: "fast:20,default", WORKER_COUNT: "auto" },
      untilKnown: false,
    });
    await wrong.waitForLine((line) => line.includes("each needs its workers, as in default:80"));
    expect(await wrong.exited).toMatchObject({ code: 2 });
  });
});
