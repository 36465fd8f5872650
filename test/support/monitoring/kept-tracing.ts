import type { Span, SpanAttributes, SpanStart, Tracing } from "@unacked/tracing";

export interface KeptSpan {
  name: string;
  parent: string | undefined;
  links: readonly string[];
  attributes: SpanAttributes;
  /** As far as it has ended. */
  ended?: { errorType: string | undefined };
  context: string;
}

/** Remembers what would be traced. Places are `span-1`, `span-2` … in order. */
export function keptTracing(): { tracing: Tracing; spans: KeptSpan[] } {
  const spans: KeptSpan[] = [];
  const inside: Span[] = [];
  const start = ({ name, parent, links = [], attributes = {} }: SpanStart): Span => {
    const context = `span-${spans.length + 1}`;
    const kept: KeptSpan = { name, parent, links, attributes, context };
    spans.push(kept);
    return {
      context,
      ids: { traceId: "trace", spanId: context },
      rename: (to) => void (kept.name = to),
      describe: (more) => void (kept.attributes = { ...kept.attributes, ...more }),
      end: (errorType) => void (kept.ended = { errorType }),
    };
  };
  const within = <Result>(span: Span, act: () => Result): Result => {
    inside.push(span);
    try {
      return act();
    } finally {
      inside.pop();
    }
  };
  return { spans, tracing: { start, within, activeIds: () => inside.at(-1)?.ids, close: () => Promise.resolve() } };
}
