import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { metricCatalogue, metricOfSeries } from "../support/monitoring/metric-catalogue.ts";
import { type Scrape, scrape } from "../support/monitoring/scrape.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const FAILOVERS = "unacked_manager_failover_duration_seconds";

describe("what Prometheus scrapes of a running system", () => {
  let system: System;
  const healthUrls = new Map<string, string>();

  const startService = async (name: string, workers = 10) => {
    const service = await system.startService(name, { workers });
    healthUrls.set(name, String((await service.waitForEvent("listening")).url));
  };
  const ofService = (name: string): Promise<Scrape> => scrape(healthUrls.get(name) ?? "");
  /** Counts belong to the manager that applies the events; which one that is, the broker decides. */
  const ofManagers = async (name: string, labels?: Record<string, string>): Promise<number> => {
    const urls = await Promise.all(system.managers.map(async (one) => String((await one.waitForEvent("listening")).url)));
    const values = await Promise.all(urls.map(async (url) => (await scrape(url)).value(name, labels) ?? 0));
    return values.reduce((sum, value) => sum + value, 0);
  };

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startManager({ speakTo: false });
    await Promise.all([startService("service-1"), startService("service-2", 12)]);
    await system.createMany("observer", 10);
  });
  afterAll(() => system.close());

  it("is the same of the books at every manager, desired workers included", async () => {
    const urls = await Promise.all(system.managers.map(async (one) => String((await one.waitForEvent("listening")).url)));
    for (const url of urls) {
      await eventually(async () => {
        const metrics = await scrape(url);
        expect(metrics.value("unacked_observers", { status: "Processing", type: "stamp" })).toBe(10);
        expect(metrics.value("unacked_workers", { pool: "default" })).toBe(22);
        expect(metrics.value("unacked_workers_free", { pool: "default" })).toBe(12);
        expect(metrics.value("unacked_workers_desired", { pool: "default" })).toBe(22);
        expect(metrics.value("unacked_queue_consumers", { queue: "unacked.work.default" })).toBe(2);
        for (const queue of ["unacked.state", "unacked.task-state"])
          expect(metrics.value("unacked_queue_consumers", { queue })).toBeGreaterThan(0);
        expect(metrics.value("unacked_state_queue_batches")).toBe(0);
        expect(metrics.value("unacked_broker_connected", { connection: "consume" })).toBe(1);
      });
    }
  });

  it("is, of each service, what it runs and has started", async () => {
    const [one, two] = await Promise.all([ofService("service-1"), ofService("service-2")]);
    const sum = (name: string, labels?: Record<string, string>) =>
      (one.value(name, labels) ?? 0) + (two.value(name, labels) ?? 0);
    expect(sum("unacked_service_runs", { phase: "running" })).toBe(10);
    expect(sum("unacked_service_run_starts_total", { attempt: "first" })).toBe(10);
    expect(sum("unacked_service_deliveries_total", { redelivered: "false" })).toBe(10);
    expect(one.value("unacked_service_info", { service: "service-1", pool: "default" })).toBe(1);
    expect(one.value("unacked_service_ready")).toBe(1);
  });

  it("counts a failover when a service is killed, and none when an observer is restarted or stopped", async () => {
    const runs = await ofManagers("unacked_manager_runs_started_total");
    expect(runs).toBe(10);
    await system.call("POST", "/api/v1/observers/observer-0/restart");
    await eventually(async () => expect(await ofManagers("unacked_manager_runs_started_total")).toBe(runs + 1));
    await system.remove("observer-1");
    for (const reason of ["stopped", "restarted"])
      await eventually(async () => expect(await ofManagers("unacked_manager_runs_ended_total", { reason })).toBe(1));
    expect(await ofManagers(`${FAILOVERS}_count`)).toBe(0);

    const moving = (await ofService("service-1")).value("unacked_service_runs", { phase: "running" }) ?? 0;
    expect(moving).toBeGreaterThan(0);
    await system.service("service-1").kill("SIGKILL");
    await eventually(async () => {
      expect(await ofManagers(`${FAILOVERS}_count`)).toBe(moving);
      expect(await ofManagers("unacked_manager_services_ended_total", { how: "gone" })).toBe(1);
    });
    await eventually(async () =>
      expect((await ofService("service-2")).value("unacked_service_deliveries_total", { redelivered: "true" })).toBe(moving),
    );
    await startService("service-1");
  });

  it("measures the failovers of a drain by how long the books knew of no run", async () => {
    const before = { count: await ofManagers(`${FAILOVERS}_count`), sum: await ofManagers(`${FAILOVERS}_sum`) };
    const moving = (await ofService("service-2")).value("unacked_service_runs", { phase: "running" }) ?? 0;
    await system.service("service-2").kill("SIGTERM");
    await eventually(async () => expect(await ofManagers(`${FAILOVERS}_count`)).toBe(before.count + moving));
    const tookS = (await ofManagers(`${FAILOVERS}_sum`)) - before.sum;
    expect(tookS / moving).toBeLessThan(30);
    await eventually(async () =>
      expect(await ofManagers("unacked_manager_services_ended_total", { how: "stopped" })).toBe(1),
    );
  });

  it("counts retries, what was put aside, and what was emitted", async () => {
    const { status } = await system.create("fails", { throwAfterMs: 10 }, { retry: TWICE });
    expect(status).toBe(201);
    await system.untilStatus(["fails"], "Failed");
    const service = await ofService("service-1");
    expect(service.value("unacked_service_retries_total")).toBe(1);
    expect(service.value("unacked_service_runs_ended_total", { reason: "failed" })).toBe(1);
    expect(service.value("unacked_service_run_starts_total", { attempt: "later" })).toBe(1);
    await eventually(async () =>
      expect(await ofManagers("unacked_manager_errors_total", { reason: "retries-used-up" })).toBe(1),
    );
  });

  it("knows requests by the route that fits them, never by what clients wrote", async () => {
    await system.call("GET", "/api/v1/observers/observer-2");
    await system.call("GET", "/nothing/is/here");
    await eventually(async () => {
      const metrics = await scrape(system.url);
      const requests = (labels: Record<string, string>) =>
        metrics.value("unacked_manager_http_request_duration_seconds_count", labels);
      expect(requests({ route: "/api/v1/observers/{ref}", method: "GET", status: "2xx" })).toBeGreaterThan(0);
      expect(requests({ route: "(other)", status: "4xx" })).toBe(1);
      expect(requests({ route: "/metrics" })).toBeGreaterThan(0);
    });
  });

  it("has no label, and no value of one, that the catalogue does not have", async () => {
    const catalogue = metricCatalogue();
    for (const metrics of [await scrape(system.url), await ofService("service-1")]) {
      const own = metrics.samples.filter(({ name }) => name.startsWith("unacked_"));
      expect(own.length).toBeGreaterThan(30);
      for (const { name, labels } of own) {
        const described = catalogue.get(name) ?? catalogue.get(metricOfSeries(name));
        const bounds: Record<string, readonly string[] | string> = { ...described?.labels, le: "buckets" };
        for (const [label, value] of Object.entries(labels)) {
          const values = bounds[label] ?? expect.fail(`${name} has a label ${label} that is not in the catalogue`);
          if (typeof values !== "string") expect(values, `${name}{${label}}`).toContain(value);
        }
      }
    }
  });
});

const TWICE = { maxAttempts: 2, delaysMs: [10], resetAfterMs: 60_000 };
