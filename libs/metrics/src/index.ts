export { addBrokerMetrics, type BrokerConnections } from "./broker-metrics.ts";
export { type LabelBounds, MetricSet, renderTogether } from "./metric-set.ts";
export { addProcessMetrics } from "./process-metrics.ts";
