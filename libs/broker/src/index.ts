export {
  type BrokerLog,
  type BrokerSettings,
  BrokerSettingsError,
  type BrokerTls,
  flawOfBrokerUrls,
  type ReconnectDelays,
} from "./broker-settings.ts";
export type { LossKind } from "./loss-kind.ts";
export { isNoQueue, type LossReason } from "./loss-reason.ts";
export type { Outgoing } from "./outgoing.ts";
export { untilAborted } from "./patience.ts";
export { PublishError, type PublishErrorCode } from "./publish-error.ts";
export { Publisher, type PublisherOptions } from "./publisher.ts";
export { asOtherwise, type ExchangeDeclaration, type QueueDeclaration } from "./queue-declaration.ts";
export { QueueMissingError } from "./queue-proof.ts";
export { redactUrl } from "./redact-url.ts";
export {
  type ConsumeOptions,
  type Consumer,
  type Delivery,
  type DeliveryProperties,
  type Session,
  SessionLostError,
  type SettleGiven,
} from "./session.ts";
export { RefusedError, type SideChannel } from "./side-channel.ts";
export { type ConnectionHooks, type ConnectionStatus, SupervisedConnection } from "./supervised-connection.ts";
