import type { LossKind } from "./loss-kind.ts";
import { remedyFor } from "./remedies.ts";

/** Why a session was lost (or never came to be), as data for a log, a readiness answer, a page. */
export interface LossReason {
  /**
   * `connect-failed`: nobody there, wrong credentials, no such vhost · `connection-closed`: by the broker, the wire or a
   * missed heartbeat · `channel-closed`: by the broker, for one wrong operation · `consumer-cancelled`: its queue went away ·
   * `consumer-timeout`: the broker cuts messages that stay unacked, see the remedy · `setup-failed`: what the owner builds
   * on each connection threw or was refused · `ended-by-owner`: on purpose.
   */
  kind: LossKind;
  /** One line, no secrets. */
  detail: string;
  /** What the operator should do, if that is known. */
  remedy?: string;
}

// RabbitMQ's text since 3.8.15: "delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms. …"
const CONSUMER_TIMEOUT = /delivery acknowledgement on channel \d+ timed out/i;

const NO_QUEUE = /^404 .*no queue/;

/** There is no such queue. A queue whose node is down, or that has crashed, is "404" as well, although it is not deleted. */
export const isNoQueue = ({ detail }: LossReason): boolean => NO_QUEUE.test(detail);

/** A reason from whatever was thrown or emitted. A 406 that says so becomes `consumer-timeout`, whatever `kind` was. */
export function lossReason(kind: LossKind, cause: unknown): LossReason {
  const detail = describeCause(cause);
  const actualKind = CONSUMER_TIMEOUT.test(detail) ? "consumer-timeout" : kind;
  const remedy = remedyFor(actualKind, detail);
  return remedy === undefined ? { kind: actualKind, detail } : { kind: actualKind, detail, remedy };
}

/** One line for a cause; amqplib's wrapping is taken off the broker's own words. */
export function describeCause(cause: unknown): string {
  return oneLine(causeText(cause));
}

function causeText(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(causeText).join(", ");
  if (!(cause instanceof Error)) return String(cause);
  const brokersWords = /(\d{3}) \([A-Z-]+\) with message "(.*)"$/s.exec(cause.message);
  if (brokersWords !== null) return `${brokersWords[1]} ${brokersWords[2]}`;
  return cause.message === "" ? cause.name : cause.message;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 1_000);
}
