import type { BrokerSettings } from "@unacked/broker";
import type { QueueType } from "@unacked/contracts";
import type { Log } from "../../operations/log.ts";

/** What all that the manager has on the broker is given, each on connections of its own. */
export interface AmqpSettings {
  broker: Pick<BrokerSettings, "url" | "tls" | "heartbeatS"> & { log: Log };
  queueType: QueueType;
  managerId: string;
}
