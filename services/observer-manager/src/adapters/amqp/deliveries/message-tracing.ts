import type { Outgoing } from "@unacked/broker";
import { EXCHANGES, type RunStarted, type RunStopped, STATE_KEY, STATE_QUEUE, type StateMessage } from "@unacked/contracts";
import { type Span, type SpanAttributes, type Tracing, traceHeadersOf } from "@unacked/tracing";
import type { CommandGroup } from "../commands/command-groups.ts";

type Published = Omit<Outgoing, "headers">;

/** The span of a publish, and the message with the headers by which its trace goes on at the receiver. */
export interface TracedPublish {
  message: Outgoing;
  span: Span;
}

/**
 * The part of the traces that passes the broker: a span for each message that is sent for a call, or to start an observer, and
 * one for each event that is stored. Names and attributes follow OpenTelemetry's conventions for RabbitMQ.
 */
export class MessageTracing {
  readonly #tracing: Tracing;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** @returns undefined for what no call has asked for: probes, orders of the books' own */
  publish(group: CommandGroup, message: Published): TracedPublish | undefined {
    const { traces, ids, kind } = group;
    if (traces.length === 0 && kind !== "start") return undefined;
    const { exchange, routingKey } = message;
    const span = this.#tracing.start({
      name: `publish ${nameOf(group, message)}`,
      kind: "producer",
      // A message for several calls cannot be part of all their traces.
      ...(traces.length === 1 ? { parent: traces[0] } : { links: traces }),
      attributes: {
        "messaging.system": "rabbitmq",
        "messaging.operation.name": "publish",
        "messaging.operation.type": "send",
        "messaging.destination.name": [exchange, routingKey].filter((part) => part !== "").join(":"),
        "messaging.rabbitmq.destination.routing_key": routingKey || undefined,
        "messaging.message.id": message.messageId,
        "unacked.message.type": message.type,
        "unacked.targets": ids.length > 1 ? ids.length : undefined,
        ...(kind === "start" && aboutStart(group)),
      },
    });
    return { span, message: { ...message, headers: traceHeadersOf(span.context) } };
  }

  /** Runs' starts and stops have been stored. */
  inBooks(messages: readonly StateMessage[], beganAtMs: number): void {
    for (const message of messages) {
      if (message.kind !== "EventBatch") continue;
      for (const event of message.events) {
        if ((event.kind !== "RunStarted" && event.kind !== "RunStopped") || event.traceContext === undefined) continue;
        this.#tracing
          .start({ ...IN_BOOKS, parent: event.traceContext, startedAtMs: beganAtMs, attributes: aboutRun(event) })
          .end();
      }
    }
  }
}

const STATE_DESTINATION = `${EXCHANGES.events.name}:${STATE_KEY}:${STATE_QUEUE}`;
const IN_BOOKS = { name: `process ${STATE_DESTINATION}`, kind: "consumer" } as const;

function aboutRun(event: RunStarted | RunStopped): SpanAttributes {
  return {
    "messaging.system": "rabbitmq",
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "messaging.destination.name": STATE_DESTINATION,
    "unacked.event": event.kind,
    "unacked.observer.id": event.observerId,
    "unacked.run.id": event.runId,
  };
}

function aboutStart({ start }: Extract<CommandGroup, { kind: "start" }>): SpanAttributes {
  return {
    "unacked.observer.id": start.observerId,
    "unacked.observer.name": start.name,
    "unacked.observer.type": start.type,
    "unacked.revision": start.revision,
  };
}

/** The name has no ids, as a service's own key differs from boot to boot. */
function nameOf(group: CommandGroup, { exchange, routingKey }: Published): string {
  return group.kind === "start" ? `${exchange}:${routingKey}` : exchange;
}
