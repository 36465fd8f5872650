import { addProcessMetrics, MetricSet, renderTogether } from "@unacked/metrics";
import type { Scraped } from "./health-server.ts";
import type { ServiceMetrics } from "./service-metrics.ts";

export interface ScrapeParts {
  readonly version: string;
  readonly serviceName: string;
  readonly services: readonly { readonly pool: string; readonly metrics: ServiceMetrics }[];
}

/** The metrics of the process: its own, and those of its services, each with its pool as a label if there are several. */
export class Scrape implements Scraped {
  readonly #process = new MetricSet();
  readonly #services: ScrapeParts["services"];

  constructor({ version, serviceName, services }: ScrapeParts) {
    this.#services = services;
    addProcessMetrics(this.#process, version);
    this.#process
      .gauge({
        name: "unacked_service_info",
        help: "Always 1; joins the service's name, and its pool or pools, to its other metrics.",
        labels: { service: "one value", pool: "one value" },
      })
      .set({ service: serviceName, pool: services.map(({ pool }) => pool).join(",") }, 1);
  }

  get descriptions(): MetricSet["descriptions"] {
    return [...this.#process.descriptions, ...(this.#services[0]?.metrics.set.descriptions ?? [])];
  }

  get contentType(): string {
    return this.#process.contentType;
  }

  async render(): Promise<string> {
    const [only, ...more] = this.#services;
    const own = await this.#process.render();
    if (only !== undefined && more.length === 0) return own + (await only.metrics.set.render());
    return own + (await renderTogether(this.#services.map(({ pool, metrics }) => ({ labels: { pool }, set: metrics.set }))));
  }
}
