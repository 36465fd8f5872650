import type { Delivery } from "@unacked/broker";
import { EXCHANGES, workQueueName } from "@unacked/contracts";
import { type TraceContext, type TraceIds, type Tracing, traceContextOf } from "@unacked/tracing";
import { traceIdsOf } from "../../wire/attempt.ts";
import { attemptOf, type LiveRun } from "./live-run.ts";

const MESSAGING = {
  "messaging.system": "rabbitmq",
  "messaging.operation.name": "process",
  "messaging.operation.type": "process",
};

/**
 * The part of the traces that happens here: a span for each start of a handler and for each order that stops one. A handler never
 * ends, so its span ends once it has been started. What the handler does still belongs below it.
 */
export class RunTracing {
  readonly #tracing: Tracing;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** Notes the trace of a message of the work queue, the same for every run of it, here or elsewhere. */
  accepted(run: LiveRun, cause: TraceContext | undefined): void {
    run.trace = { cause };
  }

  /** Called before RunStarted is sent. A later attempt begins a trace of its own, or that of a run would grow for ever. */
  starting(run: LiveRun): void {
    const trace = (run.trace ??= { cause: undefined });
    const { pool, messageId } = run.start;
    const destination = `${EXCHANGES.start.name}:${pool}:${workQueueName(pool)}`;
    const attempt = attemptOf(run);
    const links = trace.cause === undefined ? [] : [trace.cause];
    trace.start = this.#tracing.start({
      name: `process ${destination}`,
      kind: "consumer",
      ...(attempt === 1 ? { parent: trace.cause } : { links }),
      attributes: {
        ...MESSAGING,
        "messaging.destination.name": destination,
        "messaging.rabbitmq.destination.routing_key": pool,
        "messaging.message.id": messageId,
        ...aboutRun(run),
        "unacked.revision": run.start.revision,
        "unacked.attempt": attempt,
        "unacked.redelivered": run.delivery.redelivered,
      },
    });
    trace.telling = trace.start.context;
  }

  /** The handler has been started, or has thrown at once. */
  started({ trace }: LiveRun): void {
    if (trace === undefined) return;
    trace.start?.end();
    trace.telling = undefined;
  }

  /** Follows an order of the manager, whose headers may hold its trace. The report of the run's end follows from it. */
  ordered(run: LiveRun, order: Delivery): void {
    const parent = traceContextOf(order.properties.headers);
    if (parent === undefined || run.state.phase === "stopping") return;
    const span = this.#tracing.start({
      name: `process ${EXCHANGES.control.name}`,
      kind: "consumer",
      parent,
      attributes: {
        ...MESSAGING,
        "messaging.destination.name": order.queue,
        "messaging.destination.template": "unacked.control.{service}.{generation}",
        "messaging.message.id": order.properties.messageId,
        "unacked.message.type": order.properties.type,
        ...aboutRun(run),
      },
    });
    run.trace = { ...run.trace, cause: run.trace?.cause, telling: span.context };
    span.end();
  }

  /** For a restart in place: the new run follows from the order rather than from the message. */
  succeeded(run: LiveRun, successor: LiveRun): void {
    successor.trace = { cause: run.trace?.telling ?? run.trace?.cause };
  }

  /** Runs the observer's own code below the start of its handler. */
  within<Result>({ trace }: LiveRun, act: () => Result): Result {
    return trace?.start === undefined ? act() : this.#tracing.within(trace.start, act);
  }

  /** The ids for a line of the handler: those of its own span, if it has begun one. */
  idsInside(run: LiveRun): TraceIds | undefined {
    return this.#tracing.activeIds() ?? traceIdsOf(run);
  }
}

function aboutRun({ start, runId }: LiveRun) {
  return {
    "unacked.observer.id": start.observerId,
    "unacked.observer.name": start.name,
    "unacked.observer.type": start.type,
    "unacked.run.id": runId,
  };
}
