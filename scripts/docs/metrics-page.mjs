import { ManagerMetrics } from "../../services/observer-manager/dist/adapters/metrics/manager-metrics.js";
import { SlotHistory } from "../../services/observer-service/dist/keeper/slots/slot-history.js";
import { Scrape } from "../../services/observer-service/dist/service/scrape.js";
import { ServiceMetrics } from "../../services/observer-service/dist/service/service-metrics.js";

/** @typedef {import("../../libs/metrics/dist/metric-set.js").MetricDescription} MetricDescription */

/** The catalogue of every metric, from the code that makes them. */
export function metricsPage() {
  const manager = managerMetrics();
  const service = serviceMetrics();
  const isOwn = (/** @type {MetricDescription} */ { name }) => name.startsWith("unacked_");
  const ofBoth = manager.filter((one) => isOwn(one) && service.some(({ name }) => name === one.name));
  const alone = (/** @type {MetricDescription[]} */ all) => all.filter((one) => isOwn(one) && !ofBoth.some(isOneOf(one)));
  const fromBooks = (/** @type {MetricDescription} */ { name }) => !/^unacked_(manager|service)_/.test(name);
  return `# Metrics

Both programs answer Prometheus at \`GET /metrics\`: a manager on the port of REST, a service on that of its health endpoints.
Dashboard, alerts and how to scrape: [the operator's guide](operators-guide.md#metrics-alerts-logs).

A name says how to read it:

- \`unacked_…\` of a manager is read from the books at the scrape. **Every manager shows the same**, so take
  \`max by (…)\`, never the sum: \`max by (status) (sum by (instance, status) (unacked_observers))\`.
- \`unacked_manager_…\` and \`unacked_service_…\` belong to the process, and begin with it: \`sum(rate(…))\`. Events are
  counted by the manager that applies them; the other managers stand still and take over.
- While PostgreSQL is away a manager answers without what it reads from the books, and with
  \`unacked_manager_books_readable 0\`. Where one read of several fails the others are shown, and \`unacked_manager_books_part_readable\` names it.

- A service's process that serves [several pools](deploy.md#several-pools-in-one-process) has each \`unacked_service_…\` and \`unacked_broker_…\` once for each, with the label \`pool\`; of one pool alone they bear no such
  label.

Labels are bounded: by the values named here, or by what is said of them. No label bears an observer's name or id. What is
listed begins at 0, so that the first increase is seen.

## Of the books, at every manager

${table(alone(manager).filter(fromBooks))}

## Of a manager

${table(alone(manager).filter((one) => !fromBooks(one)))}

## Of a service

${table(alone(service))}

## Of both

${table(ofBoth)}

Beside these both have prom-client's metrics of Node and of the process: \`nodejs_eventloop_lag_p99_seconds\` (event-loop
lag: about 0.1 when idle, as it is measured every 100 ms), \`nodejs_heap_size_used_bytes\`, \`nodejs_gc_duration_seconds\`,
\`process_resident_memory_bytes\`, \`process_cpu_seconds_total\`, \`process_start_time_seconds\` and others.
`;
}

/** @param {MetricDescription} metric */
function isOneOf(metric) {
  return (/** @type {MetricDescription} */ { name }) => name === metric.name;
}

/** @param {MetricDescription[]} metrics */
function table(metrics) {
  const rows = metrics.map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labelsText(labels)} | ${help} |`);
  return ["| metric | type | labels | meaning |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** @param {MetricDescription["labels"]} labels */
function labelsText(labels) {
  return Object.entries(labels)
    .map(([label, values]) => {
      const bound = typeof values === "string" ? values : values.map((value) => `\`${value}\``).join(" ");
      return `\`${label}\`: ${bound}`;
    })
    .join("<br>");
}

const connection = { up: false, blocked: false, generation: 0 };

function managerMetrics() {
  const nothing = () => Promise.reject(new Error("nobody scrapes here"));
  const connections = () => ({ consume: connection, publish: connection });
  const repairs = () => ({ sentAgain: 0, sentElsewhere: 0, deletionsConcluded: 0, pausesConcluded: 0, inventoriesAsked: 0 });
  const failingForMs = () => ({ state: 0, tasks: 0, error: 0 });
  const parts = {
    version: "",
    stats: nothing,
    commands: nothing,
    tasks: nothing,
    taskFigures: nothing,
    flows: nothing,
    timers: nothing,
    schedules: nothing,
    repairs,
    failingForMs,
    connections,
    streams: () => 0,
    requestUsers: [],
    requestsWaiting: () => undefined,
    log: { debug() {}, info() {}, warn() {}, error() {} },
  };
  return new ManagerMetrics(parts).descriptions;
}

function serviceMetrics() {
  const health = () => /** @type {never} */ ({ consumer: connection, publisher: connection });
  const handlers = { slots: () => [], history: new SlotHistory(), suspects: 0 };
  const parts = { identity: { workerCount: 1 }, health, phases: () => [], silent: () => 0, handlers };
  const services = [{ pool: "", metrics: new ServiceMetrics(parts) }];
  return new Scrape({ version: "", serviceName: "", services }).descriptions;
}
