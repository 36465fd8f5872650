import { TraceContext } from "@unacked/contracts";
import { traceContextOf, traceHeadersOf } from "@unacked/tracing";
import { describe, expect, it } from "vitest";

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

describe("a place in a trace", () => {
  it.each([
    { traceparent: TRACEPARENT },
    { traceparent: TRACEPARENT, tracestate: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE" },
    { traceparent: TRACEPARENT, tracestate: "a=with a blank" },
  ])("is one text that gives back the headers it came from: %j", (headers) => {
    const context = traceContextOf(headers) ?? "";
    expect(traceHeadersOf(context)).toEqual(headers);
    expect(TraceContext.parse(context)).toBe(context);
  });

  it.each([
    undefined,
    "",
    "nonsense",
    42,
    ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
    TRACEPARENT.toUpperCase(),
    `${TRACEPARENT}, ${TRACEPARENT}`,
    `${TRACEPARENT}-${"x".repeat(10_000)}`,
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
  ])("is none where traceparent is %j", (traceparent) => {
    expect(traceContextOf({ traceparent, tracestate: "a=b" })).toBeUndefined();
  });

  it.each(["", "x".repeat(513), "a=\u0000", "a=ü", 42, undefined])("leaves behind a tracestate such as %j", (tracestate) => {
    expect(traceContextOf({ traceparent: TRACEPARENT, tracestate })).toBe(TRACEPARENT);
  });

  it("fits into an event, however much a caller sends", () => {
    const longest = traceContextOf({
      traceparent: `cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-${"x".repeat(16)}`,
      tracestate: "x".repeat(512),
    });
    expect(TraceContext.safeParse(longest).success).toBe(true);
  });
});
