export { loadTracing } from "./load-tracing.ts";
export { type TraceContext, traceContextOf, traceHeadersOf } from "./trace-context.ts";
export type { Span, SpanAttributes, SpanStart, TraceIds, Tracing, TracingOptions } from "./tracing.ts";
export { type TracingWish, tracingWish } from "./tracing-wish.ts";
