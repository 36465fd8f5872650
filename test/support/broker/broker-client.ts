import {
  type BrokerSettings,
  type ConnectionHooks,
  type LossReason,
  Publisher,
  type PublisherOptions,
  type QueueDeclaration,
  SupervisedConnection,
} from "../../../libs/broker/src/index.ts";

export interface LogLine {
  level: "info" | "warn" | "error";
  fields: Record<string, unknown>;
  msg: string;
}

/** What was logged since the last test. */
export const logged: LogLine[] = [];

const log: BrokerSettings["log"] = {
  info: (fields, msg) => void logged.push({ level: "info", fields: { ...fields }, msg }),
  warn: (fields, msg) => void logged.push({ level: "warn", fields: { ...fields }, msg }),
  error: (fields, msg) => void logged.push({ level: "error", fields: { ...fields }, msg }),
};

const open: { close(): Promise<void> }[] = [];

/** After each test. */
export async function closeClients(): Promise<void> {
  await Promise.all(open.splice(0).map((each) => each.close()));
  logged.length = 0;
}

/** Heartbeat 4 s, reconnects within 20 ms. */
export function brokerSettings(url: string, changes: Partial<BrokerSettings> = {}): BrokerSettings {
  const reconnect = { initialMs: 10, maxMs: 20, resetAfterMs: 1_000 };
  return { url, connectionName: "test", heartbeatS: 4, log, reconnect, ...changes };
}

export interface Watched {
  connection: SupervisedConnection;
  /** Every loss that the owner was told, in order. */
  losses: { generation: number; reason: LossReason }[];
}

/** A started connection, closed after the test. */
export function supervised(
  url: string,
  hooks: Partial<ConnectionHooks> = {},
  changes: Partial<BrokerSettings> = {},
): Watched {
  const losses: Watched["losses"] = [];
  const connection = new SupervisedConnection(brokerSettings(url, changes), {
    build: async () => undefined,
    ...hooks,
    onLost: (generation, reason) => {
      losses.push({ generation, reason });
      return hooks.onLost?.(generation, reason);
    },
  });
  open.push(connection);
  connection.start();
  return { connection, losses };
}

/** A started publisher, closed after the test. */
export function publisher(url: string, options: PublisherOptions = {}, changes: Partial<BrokerSettings> = {}): Publisher {
  const started = new Publisher(brokerSettings(url, changes), options);
  open.push(started);
  started.start();
  return started;
}

/** A durable queue, bound by its own name to a direct exchange of the tests. */
export function queueNamed(name: string, args: Record<string, unknown> = {}): QueueDeclaration {
  const bindings = [{ exchange: { name: "test.direct", type: "direct" }, routingKey: name }];
  return { name, durable: true, exclusive: false, arguments: args, bindings };
}
