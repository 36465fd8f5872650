import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { buildProgram } from "../../cli/src/program.ts";
import { metricCatalogue, metricOfSeries } from "../support/monitoring/metric-catalogue.ts";
import { ALERTS_FILE, DASHBOARD_FILE, readAlerts, readPanels, readQueries } from "../support/monitoring/monitoring.ts";
import { groupingLabelsIn, selectorsIn } from "../support/monitoring/promql.ts";
import { promtool } from "../support/monitoring/promtool.ts";
import { ROOT } from "../support/processes/processes.ts";
import { environmentFlaws } from "../support/processes/program-settings.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const alerts = readAlerts();
const panels = readPanels();
const catalogue = metricCatalogue();
/** What Prometheus itself adds to every series, and to buckets. */
const OF_PROMETHEUS = ["job", "instance", "namespace", "le"];

describe("the queries of dashboard and alerts", () => {
  it("are read as PromQL is written", () => {
    const query = 'sum by (a, b) (rate(x_total{c="up{", d!~"e"}[5m])) > 0.2 * max(y) and on (job) z unless w';
    expect(selectorsIn(query)).toEqual([
      { series: "x_total", labels: ["c", "d"] },
      ...["y", "z", "w"].map((series) => ({ series, labels: [] })),
    ]);
    expect(groupingLabelsIn(query)).toEqual(["a", "b", "job"]);
  });

  it("name metrics and labels that the programs have", () => {
    const queries = readQueries();
    expect(queries.length).toBeGreaterThan(60);
    const flaws = queries.flatMap(({ where, expr }) => {
      const selectors = selectorsIn(expr).filter(({ series }) => series !== "up");
      const known = new Set([...OF_PROMETHEUS, ...selectors.flatMap(({ series }) => labelsOf(series))]);
      return [
        ...selectors.filter(({ series }) => !catalogue.has(series) && !catalogue.has(metricOfSeries(series))),
        ...selectors.flatMap(({ series, labels }) =>
          labels.filter((label) => ![...OF_PROMETHEUS, ...labelsOf(series)].includes(label)),
        ),
        ...groupingLabelsIn(expr).filter((label) => !known.has(label)),
      ].map((flaw) => ({ where, flaw }));
    });
    expect(flaws).toEqual([]);
  });
});

describe("the dashboard", () => {
  it("has panels that do not lie over each other, each with a query of the data source that is chosen", () => {
    expect(panels.length).toBeGreaterThan(30);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const places = panels.flatMap(({ gridPos: { x, y, w, h }, title }) =>
      Array.from({ length: w * h }, (_, cell) => ({ at: `${x + (cell % w)},${y + Math.floor(cell / w)}`, title })),
    );
    const taken = new Map<string, string>();
    for (const { at, title } of places) {
      expect(taken.get(at), `${at}: ${title}`).toBeUndefined();
      taken.set(at, title);
    }
    for (const { type, title, targets = [] } of panels.filter((panel) => panel.type !== "row")) {
      expect(["stat", "timeseries"], title).toContain(type);
      expect(targets.length, title).toBeGreaterThan(0);
      expect(new Set(targets.map(({ datasource }) => datasource.uid)), title).toEqual(new Set(["${datasource}"]));
    }
    expect(JSON.parse(read(DASHBOARD_FILE)).templating.list[0]).toMatchObject({ name: "datasource", query: "prometheus" });
  });

  it("has a row for each kind of work, and for who asks for it", () => {
    const rows = panels.filter(({ type }) => type === "row").map(({ title }) => title);
    expect(rows).toEqual(
      expect.arrayContaining(["Observers", "Tasks", "Flows", "Timers", "Schedules", "Requests over AMQP", "REST"]),
    );
  });

  it("shows the installation of the namespace that is chosen, and nothing of others", () => {
    for (const { where, expr } of readQueries().filter((query) => query.where.startsWith("panel")))
      for (const { labels } of selectorsIn(expr)) expect(labels, `${where}: ${expr}`).toContain("namespace");
    expect(JSON.parse(read(DASHBOARD_FILE)).templating.list[1]).toMatchObject({ name: "namespace", includeAll: false });
  });
});

describe("each alert", () => {
  it("has a name and a page of its own, and no page is of no alert", () => {
    const names = alerts.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    for (const { alert, annotations, labels } of alerts) {
      const file = alert
        .replace("Unacked", "")
        .replaceAll(/\B[A-Z]/g, "-$&")
        .toLowerCase();
      expect(annotations.runbook).toBe(`docs/runbooks/${file}.md`);
      expect(existsSync(join(ROOT, annotations.runbook)), annotations.runbook).toBe(true);
      expect(read(annotations.runbook).match(/^#+ .*$/gm)).toEqual([
        `# ${alert}`,
        "## Meaning",
        "## Impact",
        "## What to do",
      ]);
      expect(["critical", "warning"]).toContain(labels.severity);
    }
    const pages = readdirSync(join(ROOT, "docs/runbooks")).map((file) => `docs/runbooks/${file}`);
    expect(pages.sort()).toEqual(alerts.map(({ annotations }) => annotations.runbook).sort());
  });

  it("is of one namespace: what is summed up, joined or missing is so in each by itself", () => {
    for (const { alert, expr } of alerts) {
      expect(expr, alert).not.toMatch(/\b(max|min|sum|avg|count|group)\s*\(/);
      for (const [, labels] of expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g))
        expect(labels?.split(", "), alert).toContain("namespace");
      if (alert !== "UnackedManagerDown") expect(expr, alert).not.toContain("absent(");
    }
  });

  it("stands in the operator's guide, among those of its severity", () => {
    const [, header = "", row = ""] = read("docs/operators-guide.md").match(/^\| (critical .*) \|\n.*\n\| (.*) \|$/m) ?? [];
    const told = header.split(" | ").map((severity, column) => ({
      severity,
      runbooks: [...(row.split(" | ")[column] ?? "").matchAll(/\]\((runbooks\/[^)]+)\)/g)].map(([, page]) => `docs/${page}`),
    }));
    const meant = told.map(({ severity }) => ({
      severity,
      runbooks: alerts.filter(({ labels }) => labels.severity === severity).map(({ annotations }) => annotations.runbook),
    }));
    for (const each of [...told, ...meant]) each.runbooks.sort();
    expect(told).toEqual(meant);
  });

  it("has a page that begins with how long it has to be so before the alert fires", () => {
    const named: Record<string, string> = { "1": "a|1", "2": "2|two", "5": "5|five", "10": "10|ten", "15": "15|fifteen" };
    const pending = alerts.flatMap(({ annotations, for: held }) => (held === undefined ? [] : [{ annotations, held }]));
    expect(pending.length).toBeGreaterThan(20);
    for (const { annotations, held } of pending) {
      const minutes = named[held.match(/^(\d+)m$/)?.[1] ?? ""] ?? expect.fail(`no words for ${held}`);
      const [, opening = ""] = read(annotations.runbook).split("\n\n");
      expect(opening, annotations.runbook).toMatch(new RegExp(`\\b(${minutes}) minutes?\\b`));
    }
  });

  it("has a page whose commands are there: those of unacked with their options, events that the logs have", () => {
    const program = buildProgram({ out: () => undefined, err: () => undefined } as never);
    const sources = ["services", "libs"].flatMap((folder) => sourcesIn(folder)).join("\n");
    const commands = alerts.flatMap(({ annotations }) =>
      [...read(annotations.runbook).matchAll(/(?:^ +|`)unacked ([^\n`|]+)/gm)].map(([, line = ""]) => line.trim()),
    );
    expect(commands.length).toBeGreaterThan(20);
    for (const line of commands) {
      const command = program.commands.find((each) => each.name() === line.split(" ")[0]) ?? expect.fail(`unacked ${line}`);
      const options = command.options.flatMap(({ long, short }) => [long, short]);
      for (const option of line.match(/(?<= )--?[a-z-]+/g) ?? []) expect(options, `unacked ${line}`).toContain(option);
    }
    for (const { annotations } of alerts)
      for (const [, event] of read(annotations.runbook).matchAll(/"event":"([a-z-]+)"/g))
        expect(sources, annotations.runbook).toContain(`event: "${event}"`);
  });

  it("has a page whose rabbitmqctl looks into the vhost that is meant", () => {
    for (const { annotations } of alerts) {
      const page = read(annotations.runbook);
      const ofVhost = /rabbitmqctl (?:list_(?:queues|consumers|permissions|bindings)|(?:delete|purge)_queue)(?! -p VHOST)/;
      expect(page, annotations.runbook).not.toMatch(ofVhost);
      expect(page, annotations.runbook).not.toMatch(/rabbitmq-queues quorum_status(?! --vhost VHOST)/);
    }
  });

  it("has a page whose kubectl reads the logs of all managers: of a deployment it picks one pod", () => {
    for (const { annotations } of alerts) expect(read(annotations.runbook)).not.toMatch(/kubectl .*logs deployment\//);
  });

  it("has a page whose kubectl names what an operator of the cluster keeps: that has not the labels of its pods", () => {
    for (const { annotations } of alerts)
      expect(read(annotations.runbook), annotations.runbook).not.toMatch(/kubectl .*get [^\n]*cluster[^\n]* -l /);
  });

  it("has a page whose curl asks only what is open to everybody: it has no token, and psql the database of the books", () => {
    for (const { annotations } of alerts) {
      const page = read(annotations.runbook);
      expect(page, annotations.runbook).not.toMatch(/curl .*\/api\//);
      expect(page, annotations.runbook).not.toMatch(/psql (?!"\$DATABASE_URL" )-/);
    }
  });
});

it("a heap snapshot is written where a slot may write, and not taken for a slot that is stuck", () => {
  const page = read("docs/runbooks/slots-recycled.md");
  const [, options = "", rest = ""] = page.match(/^ +SLOT_NODE_OPTIONS="(.*)" (.*)$/m) ?? expect.fail("no settings");
  const others = Object.fromEntries(rest.split(" ").map((pair) => pair.split("=") as [string, string]));
  const given = { AMQP_URL: "amqp://broker", SLOT_NODE_OPTIONS: options, ...others };
  expect(environmentFlaws("observer-service", given)).toEqual([]);
  expect([others["STUCK_MS"], Number(others["SLOT_MEMORY_MB"]) >= 1_024]).toEqual(["0", true]);
  const dir = mkdtempSync(join(tmpdir(), "unacked-snapshot-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  expect(options).toContain("--diagnostic-dir=/tmp");
  const env = { ...process.env, NODE_OPTIONS: options.replace("=/tmp", `=${dir}`) };
  const program = 'process.kill(process.pid, "SIGUSR2"); setTimeout(() => undefined, 100);';
  expect(spawnSync(process.execPath, ["-e", program], { env, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/\.heapsnapshot$/)]);
});

describe("promtool, where it is", () => {
  it.skipIf(promtool === undefined)("takes the rules and the configuration of the compose file", () => {
    for (const args of [
      ["check", "rules", ALERTS_FILE],
      ["check", "config", "--syntax-only", "deploy/monitoring/prometheus.yml"],
    ]) {
      const { status, stdout, stderr } = spawnSync(promtool ?? "", args, { cwd: ROOT, encoding: "utf8" });
      expect(`${status} ${stdout}${stderr}`).toMatch(/^0 /);
    }
  });
});

function labelsOf(series: string): string[] {
  const described = catalogue.get(series) ?? catalogue.get(metricOfSeries(series));
  return Object.keys(described?.labels ?? {});
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\/src\/.*\.ts$/.test(`/${file}`) && !file.includes("node_modules"))
    .map((file) => read(join(folder, file)));
}
