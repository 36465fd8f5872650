import { noneOfEachStatus, OBSERVER_STATUSES, type Stats, type TaskTypeFigures } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { FIGURES_NOW } from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-figure-examples.ts";
import {
  ManagerMetrics,
  type ManagerMetricsParts,
} from "../../../services/observer-manager/src/adapters/metrics/manager-metrics.ts";
import { Scrape } from "../../support/monitoring/scrape.ts";
import { keptLog } from "../../support/servers/books.ts";

const connection = { up: true, blocked: false, generation: 2 };
const pool = {
  pool: "default",
  services: 2,
  draining: 0,
  workers: 20,
  occupied: 5,
  desired: 15,
  free: 15,
  silent: 0,
  survivesLargestService: true,
};

const stats = (changes: Partial<Stats> = {}): Stats => ({
  observers: { total: 0, byStatus: noneOfEachStatus(), byType: [] },
  workers: { total: 20, free: 15, byPool: [pool] },
  survivesLargestService: true,
  warnings: [],
  queues: [],
  stateQueueLag: 0,
  oldestWaiting: null,
  ...changes,
});

/** What a manager finds in empty books. */
const FOUND = {
  stats: async () => stats(),
  commands: async () => [],
  tasks: async () => ({
    byType: [],
    pools: [{ pool: "default", workers: 2, wanted: 1, oldestReadyS: 0, oldestUntakenS: 0 }],
  }),
  taskFigures: async () => FIGURES_NOW,
  timers: async () => ({ byStatus: [], oldestDueS: 0 }),
  flows: async () => ({ running: 0, ends: 0, oldestEndS: 0 }),
  schedules: async () => ({ byStatus: [], oldestDueS: 0 }),
};

/** Each read of the books, its name, and a metric of it. */
const PARTS: [keyof typeof FOUND, string, string][] = [
  ["stats", "stats", "unacked_oldest_waiting_seconds"],
  ["commands", "commands", "unacked_commands"],
  ["tasks", "tasks", "unacked_task_workers"],
  ["taskFigures", "task-figures", "unacked_task_rate"],
  ["timers", "timers", "unacked_timers_oldest_due_seconds"],
  ["schedules", "schedules", "unacked_schedules_oldest_due_seconds"],
  ["flows", "flows", "unacked_flows_running"],
];

const metricsOf = (parts: Partial<ManagerMetricsParts> = {}): ManagerMetrics =>
  new ManagerMetrics({
    version: "1.2.3",
    ...FOUND,
    repairs: () => ({ sentAgain: 1, sentElsewhere: 0, deletionsConcluded: 0, pausesConcluded: 0, inventoriesAsked: 3 }),
    failingForMs: () => ({ state: 0, tasks: 0, error: 0 }),
    connections: () => ({ consume: connection, publish: { ...connection, blocked: true } }),
    streams: () => 4,
    requestUsers: [],
    requestsWaiting: () => undefined,
    log: keptLog(),
    ...parts,
  });
const scrapeOf = async (metrics: ManagerMetrics): Promise<Scrape> => new Scrape(await metrics.render());

describe("a manager's scrape", () => {
  it("reads the books once for all who ask meanwhile, and anew for the next", async () => {
    let reads = 0;
    const metrics = metricsOf({
      async stats() {
        reads += 1;
        await new Promise((resolve) => setImmediate(resolve));
        return stats();
      },
    });
    const texts = await Promise.all(Array.from({ length: 100 }, () => metrics.render()));
    expect(reads).toBe(1);
    expect(new Set(texts).size).toBe(1);
    await metrics.render();
    expect(reads).toBe(2);
  });

  it("shows tasks by type, and by pool what they want; more than a hundred types and pools together", async () => {
    const byType = Array.from({ length: 102 }, (_, i) => ({ type: `t${i}`, status: "Ready" as const, count: 1_000 - i }));
    const pools = Array.from({ length: 102 }, (_, i) => ({
      pool: `p${i}`,
      workers: 2,
      wanted: 5,
      oldestReadyS: i,
      oldestUntakenS: 200 - i,
    }));
    const metrics = metricsOf({ tasks: async () => ({ byType, pools }) });
    metrics.taskTally.ended("Failed", 3);
    metrics.taskTally.leasesOver(2);
    const scrape = await scrapeOf(metrics);
    expect(scrape.value("unacked_tasks", { type: "t0", status: "Ready" })).toBe(1_000);
    expect(scrape.value("unacked_tasks", { type: "(others)", status: "Ready" })).toBe(900 + 899);
    expect(scrape.value("unacked_task_workers", { pool: "p0" })).toBe(2);
    expect(scrape.value("unacked_task_workers_desired", { pool: "(others)" })).toBe(10);
    expect(scrape.value("unacked_task_oldest_ready_seconds", { pool: "(others)" })).toBe(101);
    expect(scrape.value("unacked_task_oldest_untaken_seconds", { pool: "p7" })).toBe(193);
    expect(scrape.value("unacked_task_oldest_untaken_seconds", { pool: "(others)" })).toBe(100);
    expect(scrape.value("unacked_manager_task_leases_over_total", {})).toBe(2);
    expect(scrape.value("unacked_manager_tasks_ended_total", { status: "Failed" })).toBe(3);
    expect(scrape.value("unacked_manager_tasks_ended_total", { status: "Completed" })).toBe(0);
  });

  it("shows how task types go: rates a second, load and running times, and nothing where nobody can say", async () => {
    const [item] = FIGURES_NOW.items as [TaskTypeFigures];
    const quiet = { ...item, type: "quiet", loadPercent: null, lately: { ...item.lately, meanMs: null, p95Ms: null } };
    const metrics = metricsOf({ taskFigures: async () => ({ ...FIGURES_NOW, items: [item, quiet] }) });
    const scrape = await scrapeOf(metrics);
    expect(scrape.value("unacked_task_rate", { type: "resize", kind: "completed" })).toBeCloseTo(117 / 90);
    expect(scrape.value("unacked_task_rate", { type: "resize", kind: "failed" })).toBeCloseTo(1 / 90);
    expect(scrape.value("unacked_task_load_ratio", { type: "resize" })).toBeCloseTo(1.124);
    expect(scrape.value("unacked_task_pool_load_ratio", { pool: "default" })).toBeCloseTo(0.64);
    expect(scrape.value("unacked_task_running_seconds_p95", { type: "resize" })).toBeCloseTo(1.9042);
    expect(scrape.value("unacked_task_load_ratio", { type: "quiet" })).toBeUndefined();
    expect(scrape.value("unacked_task_running_seconds_mean", { type: "quiet" })).toBeUndefined();
  });

  it("shows the books, the connections, and what was counted", async () => {
    const commands = async () => [{ kind: "stop" as const, count: 2, overdueS: 1.5, oldestS: 30 }];
    const metrics = metricsOf({ commands });
    metrics.tally.sent("start", "sent");
    metrics.tally.putAside(["bad-params"]);
    const happened = [
      { kind: "run-started" },
      { kind: "run-ended", reason: "duplicate" },
      { kind: "duplicate-dropped" },
      { kind: "failed-over", withoutRunMs: 2_000 },
      { kind: "service-ended", how: "Gone" },
    ] as const;
    metrics.tally.applied({ messages: 3, tookMs: 10, oldestEventMs: 40, happened });
    const scrape = await scrapeOf(metrics);
    expect(scrape.value("unacked_manager_books_readable")).toBe(1);
    expect(scrape.value("unacked_workers_desired", { pool: "default" })).toBe(15);
    expect(scrape.value("unacked_oldest_waiting_seconds")).toBe(0);
    expect(scrape.value("unacked_commands", { kind: "stop" })).toBe(2);
    expect(scrape.value("unacked_commands", { kind: "probe" })).toBe(0);
    expect(scrape.value("unacked_command_lag_seconds", { kind: "stop" })).toBe(1.5);
    expect(scrape.value("unacked_manager_commands_total", { kind: "start", outcome: "sent" })).toBe(1);
    expect(scrape.value("unacked_manager_errors_total", { reason: "bad-params" })).toBe(1);
    expect(scrape.value("unacked_manager_batches_total")).toBe(3);
    expect(scrape.value("unacked_manager_runs_ended_total", { reason: "duplicate" })).toBe(1);
    expect(scrape.value("unacked_manager_duplicates_ended_total")).toBe(2);
    expect(scrape.value("unacked_manager_failover_duration_seconds_sum")).toBe(2);
    expect(scrape.value("unacked_manager_services_ended_total", { how: "gone" })).toBe(1);
    expect(scrape.value("unacked_manager_repairs_total", { kind: "inventory-asked" })).toBe(3);
    expect(scrape.value("unacked_broker_connects_total", { connection: "consume" })).toBe(2);
    expect(scrape.value("unacked_broker_blocked", { connection: "publish" })).toBe(1);
    expect(scrape.value("unacked_manager_event_streams")).toBe(4);
    expect(scrape.value("unacked_build_info", { version: "1.2.3" })).toBe(1);
  });

  it("says that the books cannot be read, and leaves out what it would otherwise have to invent", async () => {
    let away = false;
    const orAway = ([part, read]: [string, () => Promise<unknown>]) => [
      part,
      () => (away ? Promise.reject(new Error("away")) : read()),
    ];
    const metrics = metricsOf({
      ...Object.fromEntries(Object.entries(FOUND).map(orAway)),
      requestsWaiting: () => (away ? undefined : 3),
    });
    const before = await scrapeOf(metrics);
    expect(before.value("unacked_workers")).toBe(20);
    expect(before.value("unacked_requests_waiting")).toBe(3);
    expect(before.value("unacked_timers_oldest_due_seconds")).toBe(0);
    away = true;
    const scrape = await scrapeOf(metrics);
    expect(scrape.value("unacked_manager_books_readable")).toBe(0);
    const ofBooks = scrape.samples.filter(
      ({ name }) => name.startsWith("unacked_") && !/^unacked_(manager|broker|build)_/.test(name),
    );
    expect(ofBooks).toEqual([]);
    expect(scrape.value("unacked_broker_connected", { connection: "consume" })).toBe(1);
  });

  it.each(PARTS)(
    "hides only what is read of %s where that cannot be read, and says so, once in its log",
    async (part, name, metric) => {
      const fails = () => Promise.reject(new Error("statement timeout"));
      let isAway = true;
      const log = keptLog();
      const good = metricsOf();
      const metrics = metricsOf({ [part]: () => (isAway ? fails() : FOUND[part]()), log });
      const all = new Set((await scrapeOf(good)).samples.map((sample) => sample.name));
      const scrape = await scrapeOf(metrics);
      await scrapeOf(metrics);
      const shown = new Set(scrape.samples.map((sample) => sample.name));
      const missing = [...all].filter((one) => !shown.has(one));
      expect(missing).toContain(metric);
      const others = PARTS.filter(([other]) => other !== part).map(([, , one]) => one);
      expect([...shown]).toEqual(expect.arrayContaining(others));
      expect(scrape.value("unacked_manager_books_readable")).toBe(0);
      for (const [, one] of PARTS)
        expect(scrape.value("unacked_manager_books_part_readable", { part: one })).toBe(one === name ? 0 : 1);
      isAway = false;
      const after = await scrapeOf(metrics);
      expect(after.value("unacked_manager_books_readable")).toBe(1);
      expect(after.samples.map((sample) => sample.name)).toContain(metric);
      expect(log.lines.map(({ level, fields }) => [level, fields])).toMatchObject([
        ["warn", { event: "metrics-unread", part: name, err: new Error("statement timeout") }],
        ["info", { event: "metrics-read", part: name }],
      ]);
    },
  );

  it("leaves out a part that cannot be shown, and shows the others", async () => {
    const scrape = await scrapeOf(metricsOf({ flows: () => Promise.resolve({}) as never }));
    expect(scrape.value("unacked_manager_books_part_readable", { part: "flows" })).toBe(0);
    expect(scrape.value("unacked_manager_books_part_readable", { part: "stats" })).toBe(1);
  });

  it("names pools that have observers and no service beside the hundred largest", async () => {
    const large = Array.from({ length: 120 }, (_, i) => ({ ...pool, pool: `large-${i}`, workers: 1_000 - i }));
    const unserved = ["lonely", "gpu"].map((name) => ({
      ...pool,
      pool: name,
      services: 0,
      workers: 0,
      free: 0,
      occupied: 1,
    }));
    const empty = { ...pool, pool: "empty", services: 0, workers: 0, free: 0, occupied: 0 };
    const workers = { total: 20, free: 0, byPool: [...large, ...unserved, empty] };
    const scrape = await scrapeOf(metricsOf({ stats: async () => stats({ workers }) }));
    for (const { pool: name } of unserved) {
      expect(scrape.value("unacked_services", { pool: name })).toBe(0);
      expect(scrape.value("unacked_workers_occupied", { pool: name })).toBe(1);
    }
    expect(scrape.value("unacked_services", { pool: "(others)" })).toBe(40);
    expect(scrape.samples.filter(({ name }) => name === "unacked_services")).toHaveLength(103);
  });

  it("does not wait for a database that does not answer", async () => {
    const scrape = await scrapeOf(metricsOf({ stats: () => new Promise(() => undefined), readWithinMs: 20 }));
    expect(scrape.value("unacked_manager_books_readable")).toBe(0);
  });

  it("counts what clients named too many of under one name", async () => {
    const byStatus = { ...noneOfEachStatus(), Created: 1 };
    const byType = Array.from({ length: 150 }, (_, index) => ({ type: `type-${index}`, total: 1, byStatus }));
    const byPool = Array.from({ length: 150 }, (_, index) => ({
      ...pool,
      pool: `pool-${index}`,
      services: 1,
      draining: 0,
      workers: 0,
      silent: 0,
    }));
    const workers = { total: 20, free: 0, byPool: [...byPool, pool] };
    const observers = { total: 150, byStatus, byType };
    const scrape = await scrapeOf(metricsOf({ stats: async () => stats({ observers, workers }) }));
    const of = (name: string) => scrape.samples.filter((sample) => sample.name === name);
    expect(of("unacked_observers")).toHaveLength(101 * OBSERVER_STATUSES.length);
    expect(scrape.value("unacked_observers", { type: "(others)", status: "Created" })).toBe(50);
    expect(of("unacked_workers_occupied")).toHaveLength(101);
    expect(scrape.value("unacked_workers", { pool: "default" })).toBe(20);
    expect(scrape.value("unacked_workers_occupied", { pool: "(others)" })).toBe(51 * 5);
  });

  it("has each user whom REQUEST_USERS names before its first request, so that the first increase is seen", async () => {
    const scrape = await scrapeOf(metricsOf({ requestUsers: ["billing"] }));
    for (const user of ["billing", "(others)"]) {
      expect(scrape.value("unacked_manager_request_replies_undelivered_total", { user })).toBe(0);
      expect(scrape.value("unacked_manager_requests_total", { user, outcome: "done" })).toBe(0);
      expect(scrape.value("unacked_manager_requested_items_total", { user, outcome: "refused" })).toBe(0);
    }
  });

  it("knows requests by route, method and class of status", async () => {
    const metrics = metricsOf();
    metrics.answered({ method: "GET", route: "/api/v1/observers/{ref}", status: 404, durationMs: 20 });
    metrics.answered({ method: "GET", route: "/api/v1/stats", status: undefined, durationMs: 9_000 });
    metrics.answered({ method: "BREW", route: undefined, status: 405, durationMs: 1 });
    const name = "unacked_manager_http_request_duration_seconds_count";
    const scrape = await scrapeOf(metrics);
    expect(scrape.value(name, { route: "/api/v1/observers/{ref}", method: "GET", status: "4xx" })).toBe(1);
    expect(scrape.value(name, { route: "/api/v1/stats", method: "GET", status: "left" })).toBe(1);
    expect(scrape.value(name, { route: "(other)", method: "OTHER", status: "4xx" })).toBe(1);
  });
});
