import type { TraceContext } from "./trace-context.ts";

/** By which a line of a log is found beside its span. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** What is undefined is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** Of few values: no ids, no names that users choose. */
  readonly name: string;
  readonly kind: "server" | "producer" | "consumer";
  /** What it is a part of; without one, or with one that cannot be read, it begins a trace. */
  readonly parent?: TraceContext | undefined;
  /** Other places that it follows from. */
  readonly links?: readonly TraceContext[];
  readonly attributes?: SpanAttributes;
  /** Wall clock, ms; default: now. */
  readonly startedAtMs?: number;
}

/** Something that takes time, under way. It is told of only once it has ended. */
export interface Span {
  readonly ids: TraceIds;
  /** For what follows from it, wherever that is. */
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
   * What `act` does, and all that it sets off, is part of the span, of this process or another, for those who use
   * `@opentelemetry/api`.
   */
  within<Result>(span: Span | TraceContext, act: () => Result): Result;
  /** Of the span that the code that asks runs in. */
  activeIds(): TraceIds | undefined;
  /** Sends what has ended, as far as that goes within `limitMs`, and nothing after it. Never rejects. */
  close(limitMs: number): Promise<void>;
}

export interface TracingOptions {
  /** `service.name`, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES says another. */
  readonly program: string;
  readonly version: string;
  /** Of this process alone. */
  readonly instanceId: string;
  /** More about this process. */
  readonly attributes?: SpanAttributes;
  /** Whether code of others runs in this process that may use `@opentelemetry/api`: then it is set up for them as well. */
  readonly hostsOthers?: boolean;
  readonly log: TracingLog;
}

/** What every log takes: (fields, message), like pino. */
export interface TracingLog {
  info(fields: object, msg: string): void;
  warn(fields: object, msg: string): void;
}
