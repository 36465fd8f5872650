import type { MetricSet } from "./metric-set.ts";

/** The part of a connection's status that metrics are made of. */
export interface BrokerConnectionState {
  readonly up: boolean;
  readonly blocked: boolean;
  /** Counts successful connects. */
  readonly generation: number;
}

/** One connection to consume and one to publish, in both programs. */
export type BrokerConnections = Readonly<Record<"consume" | "publish", BrokerConnectionState>>;

/** @param connections asked at each scrape */
export function addBrokerMetrics(metrics: MetricSet, connections: () => BrokerConnections): void {
  const labels = { connection: ["consume", "publish"] } as const;
  const states = () => Object.entries(connections()).map(([connection, state]) => ({ connection, ...state }));
  metrics.gauge({
    name: "unacked_broker_connected",
    help: "1 while the connection to RabbitMQ stands and is set up.",
    labels,
    collect: (gauge) => {
      for (const { connection, up } of states()) gauge.set({ connection }, Number(up));
    },
  });
  metrics.gauge({
    name: "unacked_broker_blocked",
    help: "1 while RabbitMQ blocks what is published (a memory or disk alarm).",
    labels,
    collect: (gauge) => {
      for (const { connection, blocked } of states()) gauge.set({ connection }, Number(blocked));
    },
  });
  metrics.counter({
    name: "unacked_broker_connects_total",
    help: "Successful connects to RabbitMQ since the process began; more than one means that a connection was lost.",
    labels,
    collect: (counter) => {
      counter.reset();
      for (const { connection, generation } of states()) counter.inc({ connection }, generation);
    },
  });
}
