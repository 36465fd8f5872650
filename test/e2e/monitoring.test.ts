import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readAlerts, readQueries } from "../support/monitoring/monitoring.ts";
import { startPrometheus } from "../support/monitoring/prometheus.ts";
import { selectorsIn } from "../support/monitoring/promql.ts";
import { prometheus } from "../support/monitoring/promtool.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { ROOT } from "../support/processes/processes.ts";
import { runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

/** Without somebody who may ask there is nothing to show of requests. */
const MAY_ASK = { role: "operator", types: ["resize"], pools: ["default"] };

describe("dashboard, alerts and runbooks, beside a running system", () => {
  let system: System;
  let tasks: Tasks;
  let managerUrl: string;
  const serviceUrls: string[] = [];
  const alerts = readAlerts();
  const panelQueries = readQueries().filter(({ where }) => where.startsWith("panel"));

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager({ env: { REQUEST_USERS: JSON.stringify({ billing: MAY_ASK }) } });
    managerUrl = system.url;
    for (const name of ["service-1", "service-2"]) {
      const service = await system.startService(name);
      serviceUrls.push(String((await service.waitForEvent("listening")).url));
    }
    await system.createMany("observer", 5, { emit: true });
    await system.remove("observer-0");
    await system.call("GET", "/api/v1/observers/nobody");
    await system.call("POST", "/api/v1/tasks", { type: "resize", pool: "pictures" });
    const worker = await system.startService("worker", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "2" } });
    serviceUrls.push(String((await worker.waitForEvent("listening")).url));
    tasks = new Tasks(system);
    await tasks.createMany(20);
    await tasks.create({ isFinal: true });
    await eventually(async () => expect((await tasks.list("type=work&status=Completed,Failed")).total).toBe(21));
    await oneRuns();
  });
  afterAll(() => system.close());

  /** A panel shows those that run. A task may take a minute at most: when it is over, there is another. */
  const oneRuns = async () => {
    if ((await tasks.list("type=work&status=Ready,Sent,Running")).total === 0) await tasks.create({ ms: 59_000 });
    await eventually(async () => expect((await tasks.list("type=work&status=Running")).total).toBe(1));
  };

  it("every series that a panel or an alert reads is in a scrape, with the labels that it is chosen by", async () => {
    const selectors = [...panelQueries, ...alerts].flatMap(({ expr }) => selectorsIn(expr));
    const asked = selectors.filter(({ series }) => series !== "up");
    expect(asked.length).toBeGreaterThan(80);
    const ofTarget = new Set(["job", "instance", "namespace"]);
    // How many requests wait is there once the manager has looked.
    const areThere = async () => {
      const scraped = await Promise.all([managerUrl, ...serviceUrls].map(scrape));
      const seen = new Map(scraped.flatMap(({ samples }) => samples.map((sample) => [sample.name, sample])));
      const missing = asked.filter(({ series, labels }) => {
        const there = Object.keys(seen.get(series)?.labels ?? {});
        return !seen.has(series) || labels.some((label) => !ofTarget.has(label) && !there.includes(label));
      });
      expect(missing).toEqual([]);
    };
    await eventually(areThere, { timeoutMs: 30_000, what: "a scrape with all of them" });
  });

  it.skipIf(prometheus === undefined)(
    "every panel shows something in a real Prometheus, and no alert is pending",
    { timeout: 360_000 },
    async () => {
      const jobs = { "observer-manager": [managerUrl], "observer-service": serviceUrls };
      const { query } = await startPrometheus(prometheus ?? "", jobs);
      await eventually(async () => expect(await query("count_over_time(up[1m]) > 3")).toHaveLength(4), {
        timeoutMs: 30_000,
        what: "four scrapes of everything",
      });
      const look = async () => {
        await oneRuns();
        const empty: string[] = [];
        for (const { where, expr } of panelQueries) if ((await query(expr)).length === 0) empty.push(`${where}: ${expr}`);
        expect(empty).toEqual([]);
        // A task of a pool that has no service, so that panels have some that wait.
        for (const { alert, expr } of alerts)
          expect(await query(expr), alert).toHaveLength(alert === "UnackedTypeNotServed" ? 1 : 0);
        expect(await query('max(sum by (instance) (unacked_observers{status="Processing"}))')).toMatchObject([{ value: 4 }]);
      };
      await eventually(look, { timeoutMs: 60_000, what: "a look at all of them" });
    },
  );

  it("every statement of the runbooks is one that the books take", async () => {
    const pages = readdirSync(join(ROOT, "docs/runbooks")).map((file) => join(ROOT, "docs/runbooks", file));
    const statements = pages.flatMap((page) =>
      [...readFileSync(page, "utf8").matchAll(/psql "\$DATABASE_URL" -c (["'])(.+)\1$/gm)].map(([, , sql = ""]) => sql),
    );
    expect(statements.length).toBeGreaterThanOrEqual(3);
    for (const statement of statements) await runStatement(system.env.DATABASE_URL ?? "", statement);
  });
});
