import { tracingWish } from "@unacked/tracing";
import { describe, expect, it } from "vitest";

const AT = "http://collector:4318";

describe("tracing is asked for", () => {
  it.each([
    { OTEL_EXPORTER_OTLP_ENDPOINT: AT },
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: AT },
    { OTEL_TRACES_EXPORTER: "otlp" },
    { OTEL_TRACES_EXPORTER: " console, otlp " },
    { OTEL_EXPORTER_OTLP_ENDPOINT: AT, OTEL_SDK_DISABLED: "false", OTEL_TRACES_EXPORTER: "" },
  ])("by %j", (env) => expect(tracingWish(env)).toEqual({ kind: "on", protocol: "http/protobuf" }));

  it.each([
    {},
    { OTEL_SERVICE_NAME: "mine", OTEL_TRACES_SAMPLER: "always_on", OTEL_EXPORTER_OTLP_HEADERS: "a=b" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: AT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: AT, OTEL_SDK_DISABLED: "TRUE" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: AT, OTEL_TRACES_EXPORTER: "none" },
    { OTEL_TRACES_EXPORTER: "otlp", OTEL_SDK_DISABLED: "true" },
  ])("not by %j", (env) => expect(tracingWish(env)).toEqual({ kind: "off" }));

  it("over the protocol of traces, before that of everything", () => {
    const env = { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    expect(tracingWish({ ...env, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" })).toEqual({
      kind: "on",
      protocol: "http/json",
    });
  });

  it.each([
    [{ OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER is zipkin; known here are otlp and none"],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: AT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      "OTEL_EXPORTER_OTLP_PROTOCOL is grpc; known here are http/protobuf and http/json",
    ],
  ])("in vain by %j, and is told what there is", (env, problem) =>
    expect(tracingWish(env)).toEqual({ kind: "unsupported", problem }),
  );
});
