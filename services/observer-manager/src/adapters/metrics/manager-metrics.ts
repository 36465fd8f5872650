import { OBSERVER_STATUSES, type Stats } from "@unacked/contracts";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { RepairCounts } from "../../flows/reconciler.ts";

export interface ManagerMetricsParts {
  stats(): Promise<Stats>;
  repairs: Readonly<RepairCounts>;
}

/**
 * What Prometheus scrapes: the books as they are at the scrape, and what this manager repaired since its start. Labels are
 * bounded: statuses, pools, kinds of repair. Names and units follow Prometheus' conventions.
 */
export class ManagerMetrics {
  readonly #parts: ManagerMetricsParts;
  readonly #registry = new Registry();
  readonly #observers = this.#gauge("unacked_observers", "Observers by status.", ["status"]);
  readonly #workers = this.#gauge("unacked_workers", "Workers of living services by pool.", ["pool"]);
  readonly #free = this.#gauge("unacked_workers_free", "Workers that no observer takes or awaits, by pool.", ["pool"]);
  readonly #services = this.#gauge("unacked_services", "Living services by pool.", ["pool"]);
  readonly #stateLag = this.#gauge("unacked_state_queue_batches", "Batches of events that wait to be read into the books.");
  readonly #warnings = this.#gauge("unacked_warnings", "What is wrong now, by code (see GET /api/v1/stats).", ["code"]);
  readonly #repairs = new Counter({
    name: "unacked_repairs_total",
    help: "What this manager's reconciler repaired, by kind.",
    labelNames: ["kind"],
    registers: [this.#registry],
  });

  constructor(parts: ManagerMetricsParts) {
    this.#parts = parts;
    collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The text of one scrape. Rejects while the database is away: a missing scrape is an alert of its own. */
  async render(): Promise<string> {
    const stats = await this.#parts.stats();
    for (const status of OBSERVER_STATUSES) this.#observers.set({ status }, stats.observers.byStatus[status]);
    for (const gauge of [this.#workers, this.#free, this.#services, this.#warnings, this.#stateLag]) gauge.reset();
    for (const { pool, workers, free, services } of stats.workers.byPool) {
      this.#workers.set({ pool }, workers);
      this.#free.set({ pool }, free);
      this.#services.set({ pool }, services);
    }
    for (const { code } of stats.warnings) this.#warnings.inc({ code });
    if (stats.stateQueueLag !== null) this.#stateLag.set(stats.stateQueueLag);
    this.#repairs.reset();
    for (const [kind, count] of Object.entries(this.#parts.repairs)) this.#repairs.inc({ kind }, count);
    return this.#registry.metrics();
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }
}
