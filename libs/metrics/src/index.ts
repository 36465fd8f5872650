export { addBrokerMetrics, type BrokerConnections } from "./broker-metrics.ts";
export { MetricSet, renderTogether } from "./metric-set.ts";
export { addProcessMetrics } from "./process-metrics.ts";
