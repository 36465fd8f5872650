export { loadTracing } from "./load-tracing.ts";
export { type TraceContext, traceContextOf, traceHeadersOf } from "./trace-context.ts";
export type { Span, SpanAttributes, SpanStart, TraceIds, Tracing } from "./tracing.ts";
export { tracingWish } from "./tracing-wish.ts";
