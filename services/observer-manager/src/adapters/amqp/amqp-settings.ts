import type { BrokerSettings } from "@unacked/broker";
import type { QueueType } from "@unacked/contracts";
import type { Log } from "../../operations/log.ts";

/** The settings of all the manager's parts on the broker, each with connections of its own. */
export interface AmqpSettings {
  broker: Pick<BrokerSettings, "url" | "tls" | "heartbeatS"> & { log: Log };
  queueType: QueueType;
  managerId: string;
}
