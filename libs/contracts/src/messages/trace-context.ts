import { shownText } from "../bounds.ts";

/**
 * A place in a trace as one text: W3C `traceparent` and, behind a blank, `tracestate` where there is one. Only where tracing is
 * on; nothing is decided by it.
 */
export const TraceContext = shownText(600);
