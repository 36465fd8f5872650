import type { MetricSet } from "@unacked/metrics";
import type { FlowCounts } from "../../operations/flows/flow-store.ts";

/** Metrics of flows, from the database's state at the scrape. */
export class FlowMetrics {
  readonly #running;
  readonly #ends;
  readonly #oldest;

  constructor(metrics: MetricSet) {
    this.#running = metrics.gauge({ name: "unacked_flows_running", help: "Flows that are not over." });
    this.#ends = metrics.gauge({
      name: "unacked_flow_ends",
      help: "Tasks of flows that are over, and whose followers have not been looked at yet.",
    });
    this.#oldest = metrics.gauge({
      name: "unacked_flow_ends_oldest_seconds",
      help: "For how long the oldest of these has been over; 0 without one.",
    });
  }

  /** `undefined` means that they could not be read. */
  show(counts: FlowCounts | undefined): void {
    for (const gauge of [this.#running, this.#ends, this.#oldest]) gauge.remove();
    if (counts === undefined) return;
    this.#running.set({}, counts.running);
    this.#ends.set({}, counts.ends);
    this.#oldest.set({}, counts.oldestEndS);
  }
}
