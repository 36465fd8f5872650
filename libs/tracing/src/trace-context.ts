/**
 * A place in a trace as one text, to be stored and sent: W3C `traceparent` and, behind a blank, `tracestate` where there is one
 * (https://www.w3.org/TR/trace-context/). At most 600 characters.
 */
export type TraceContext = string;

/** The form of every version so far: 55 characters, then whatever a later version adds. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]{1,16})?$/;

/** The state that the standard asks everybody to pass on, in printable ASCII. A longer one is left out. */
const TRACESTATE = /^[ -~]{1,512}$/;

/** @param headers of HTTP or AMQP @returns undefined where there is no trace, or what should tell it is none */
export function traceContextOf(headers: Readonly<Record<string, unknown>>): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string" || !TRACEPARENT.test(traceparent)) return undefined;
  return typeof tracestate === "string" && TRACESTATE.test(tracestate) ? `${traceparent} ${tracestate}` : traceparent;
}

export function traceHeadersOf(context: TraceContext): { traceparent: string; tracestate?: string } {
  const blank = context.indexOf(" ");
  if (blank < 0) return { traceparent: context };
  return { traceparent: context.slice(0, blank), tracestate: context.slice(blank + 1) };
}
