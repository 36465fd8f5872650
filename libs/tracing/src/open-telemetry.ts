import {
  type Attributes,
  type Context,
  context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  type Span as OtelSpan,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { ExportWatch } from "./export-watch.ts";
import { resourceOf } from "./resource.ts";
import { SdkComplaints } from "./sdk-complaints.ts";
import { spanProcessor } from "./span-processor.ts";
import { type TraceContext, traceContextOf, traceHeadersOf } from "./trace-context.ts";
import type { Span, SpanAttributes, SpanStart, TraceIds, Tracing, TracingOptions } from "./tracing.ts";
import type { TracingWish } from "./tracing-wish.ts";

const KINDS = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER } as const;

const propagator = new W3CTraceContextPropagator();

/** The one place that knows OpenTelemetry. Its SDK reads its own variables: sampler, limits, batches, endpoint, headers, TLS. */
export async function startOpenTelemetry(
  options: TracingOptions,
  protocol: Extract<TracingWish, { kind: "on" }>["protocol"],
): Promise<Tracing> {
  const complaints = new SdkComplaints(options.log);
  const complain = (message: string): void => complaints.take(message);
  const ignore = (): void => undefined;
  const listener = { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(listener, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const provider = new BasicTracerProvider({
    resource: resourceOf(options),
    spanProcessors: [await spanProcessor(protocol, new ExportWatch(options.log))],
  });
  if (options.hostsOthers) {
    trace.setGlobalTracerProvider(provider);
    propagation.setGlobalPropagator(propagator);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }
  return new OpenTelemetry(provider, provider.getTracer("unacked", options.version));
}

class OpenTelemetry implements Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;

  constructor(provider: BasicTracerProvider, tracer: Tracer) {
    this.#provider = provider;
    this.#tracer = tracer;
  }

  start({ name, kind, parent, links = [], attributes, startedAtMs }: SpanStart): Span {
    const options = {
      kind: KINDS[kind],
      attributes: given(attributes),
      links: links.flatMap((link) => trace.getSpanContext(contextOf(link)) ?? []).map((found) => ({ context: found })),
      ...(startedAtMs !== undefined && { startTime: startedAtMs }),
    };
    return new StartedSpan(this.#tracer.startSpan(name, options, contextOf(parent)));
  }

  within<Result>(span: Span | TraceContext, act: () => Result): Result {
    if (typeof span === "string") return context.with(contextOf(span), act);
    return span instanceof StartedSpan ? context.with(trace.setSpan(ROOT_CONTEXT, span.inner), act) : act();
  }

  activeIds(): TraceIds | undefined {
    return trace.getActiveSpan()?.spanContext();
  }

  async close(limitMs: number): Promise<void> {
    const limit = new Promise<void>((resolve) => void setTimeout(resolve, limitMs).unref());
    const flushed = this.#provider.shutdown().catch(() => undefined); // the watch has reported what was lost
    await Promise.race([flushed, limit]);
  }
}

class StartedSpan implements Span {
  readonly inner: OtelSpan;

  constructor(inner: OtelSpan) {
    this.inner = inner;
  }

  get ids(): TraceIds {
    const { traceId, spanId } = this.inner.spanContext();
    return { traceId, spanId };
  }

  get context(): TraceContext {
    const headers = {};
    propagator.inject(trace.setSpan(ROOT_CONTEXT, this.inner), headers, defaultTextMapSetter);
    return traceContextOf(headers) ?? "";
  }

  rename(name: string): void {
    this.inner.updateName(name);
  }

  describe(attributes: SpanAttributes): void {
    this.inner.setAttributes(given(attributes));
  }

  end(errorType?: string): void {
    if (errorType !== undefined) {
      this.inner.setAttribute("error.type", errorType);
      this.inner.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.inner.end();
  }
}

function contextOf(place: TraceContext | undefined): Context {
  return place === undefined ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, traceHeadersOf(place), defaultTextMapGetter);
}

const given = (attributes: SpanAttributes = {}): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
