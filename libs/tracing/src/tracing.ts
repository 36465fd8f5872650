import type { TraceContext } from "./trace-context.ts";

/** Ids that link a log line to its span. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Undefined attributes are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** The name has few values: no ids, no names that users choose. */
  readonly name: string;
  readonly kind: "server" | "producer" | "consumer";
  /** The span that it is a part of. Without one, or with one that cannot be read, it begins a trace. */
  readonly parent?: TraceContext | undefined;
  /** Other places that it follows from. */
  readonly links?: readonly TraceContext[];
  readonly attributes?: SpanAttributes;
  /** Wall clock, ms; default: now. */
  readonly startedAtMs?: number;
}

/** Something under way that takes time. It is exported only once it has ended. */
export interface Span {
  readonly ids: TraceIds;
  /** The parent for whatever follows from it, wherever that is. */
  readonly context: TraceContext;
  rename(name: string): void;
  describe(attributes: SpanAttributes): void;
  /** @param errorType why it failed, in one word of few; not given: it did not */
  end(errorType?: string): void;
}

/** OpenTelemetry as the programs use it. None of it throws, waits or fails because of a collector. */
export interface Tracing {
  start(span: SpanStart): Span;
  /**
   * Runs `act` within the span, of this process or another: everything that it sets off, also code that uses
   * `@opentelemetry/api`, belongs to the span.
   */
  within<Result>(span: Span | TraceContext, act: () => Result): Result;
  /** The ids of the span that the calling code runs in. */
  activeIds(): TraceIds | undefined;
  /** Sends what has ended, as far as possible within `limitMs`, and nothing after it. Never rejects. */
  close(limitMs: number): Promise<void>;
}

export interface TracingOptions {
  /** `service.name`, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES says another. */
  readonly program: string;
  readonly version: string;
  /** Belongs to this process alone. */
  readonly instanceId: string;
  /** More about this process. */
  readonly attributes?: SpanAttributes;
  /** Whether others' code that may use `@opentelemetry/api` runs in this process: then it is set up for them as well. */
  readonly hostsOthers?: boolean;
  readonly log: TracingLog;
}

/** The signature of every log: (fields, message), like pino. */
export interface TracingLog {
  info(fields: object, msg: string): void;
  warn(fields: object, msg: string): void;
}
