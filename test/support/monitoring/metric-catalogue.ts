import type { MetricSet } from "@unacked/metrics";
import { ManagerMetrics } from "../../../services/observer-manager/src/adapters/metrics/manager-metrics.ts";
import { SlotHistory } from "../../../services/observer-service/src/keeper/slots/slot-history.ts";
import { Scrape } from "../../../services/observer-service/src/service/scrape.ts";
import { ServiceMetrics } from "../../../services/observer-service/src/service/service-metrics.ts";
import { keptLog } from "../servers/books.ts";

type Described = MetricSet["descriptions"][number];

const connection = { up: false, blocked: false, generation: 0 };

/** Every metric that the programs have, by name, as docs/metrics.md describes it. */
export function metricCatalogue(): Map<string, Described> {
  const nothing = () => Promise.reject(new Error("nobody scrapes here"));
  const manager = new ManagerMetrics({
    version: "",
    stats: nothing,
    commands: nothing,
    tasks: nothing,
    taskFigures: nothing,
    flows: nothing,
    timers: nothing,
    schedules: nothing,
    repairs: () => ({ sentAgain: 0, sentElsewhere: 0, deletionsConcluded: 0, pausesConcluded: 0, inventoriesAsked: 0 }),
    failingForMs: () => ({ state: 0, tasks: 0, error: 0 }),
    connections: () => ({ consume: connection, publish: connection }),
    streams: () => 0,
    requestUsers: [],
    requestsWaiting: () => undefined,
    log: keptLog(),
  });
  const metrics = new ServiceMetrics({
    identity: { workerCount: 1 },
    health: () => ({ consumer: connection, publisher: connection }) as never,
    phases: () => [],
    silent: () => 0,
    handlers: { slots: () => [], history: new SlotHistory(), suspects: 0 },
  });
  const service = new Scrape({ version: "", serviceName: "", services: [{ pool: "", metrics }] });
  return new Map([...manager.descriptions, ...service.descriptions].map((one) => [one.name, one]));
}

/** The metric that a sample, or a query, names: histograms have three names more. */
export const metricOfSeries = (series: string): string => series.replace(/_(bucket|sum|count)$/, "");
