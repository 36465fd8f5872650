import { collectDefaultMetrics } from "prom-client";
import type { MetricSet } from "./metric-set.ts";

/** How often the timer fires. At prom-client's 10 ms an idle service spent half a percent of a core on it. */
const LOOK_AT_EVENT_LOOP_MS = 100;

/** What every program shows of itself: prom-client's metrics of Node (event loop, heap, garbage, CPU), and its version. */
export function addProcessMetrics(metrics: MetricSet, version: string): void {
  collectDefaultMetrics({ register: metrics.registry, eventLoopMonitoringPrecision: LOOK_AT_EVENT_LOOP_MS });
  const info = metrics.gauge({
    name: "unacked_build_info",
    help: "Always 1; the version is in the label.",
    labels: { version: "one value" },
  });
  info.set({ version }, 1);
}
