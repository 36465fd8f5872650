import type { Span, TraceContext, TraceIds } from "@unacked/tracing";

/** What a traced run has of its trace. */
export interface RunTrace {
  /** Where the message, or the order to run anew, comes from. */
  cause: TraceContext | undefined;
  /** The start of the handler that runs, or ran last. */
  start?: Span;
  /** What the manager is told next follows from this. */
  telling?: TraceContext | undefined;
}

/** For a line about a run. */
export const traceIdsOf = ({ trace }: { readonly trace?: RunTrace }): TraceIds | undefined => trace?.start?.ids;
