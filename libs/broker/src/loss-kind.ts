/** See LossReason. */
export type LossKind =
  | "connect-failed"
  | "connection-closed"
  | "channel-closed"
  | "consumer-cancelled"
  | "consumer-timeout"
  | "setup-failed"
  | "ended-by-owner";
