/** What the environment asks for. */
export type TracingWish =
  | { readonly kind: "off" }
  | { readonly kind: "on"; readonly protocol: "http/protobuf" | "http/json" }
  /** It asks for something unsupported. That is said once, and tracing is off. */
  | { readonly kind: "unsupported"; readonly problem: string };

const OFF: TracingWish = { kind: "off" };

/**
 * Reads the variables of https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/, with one
 * difference: there tracing is on unless it is turned off; here it is off unless an exporter or an endpoint is named.
 */
export function tracingWish(env: Readonly<Record<string, string | undefined>>): TracingWish {
  const valueOf = (name: string): string | undefined => env[name]?.trim() || undefined;
  if (valueOf("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return OFF;
  const exporters = valueOf("OTEL_TRACES_EXPORTER")
    ?.split(",")
    .map((name) => name.trim());
  const endpoint = valueOf("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ?? valueOf("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (exporters === undefined && endpoint === undefined) return OFF;
  if (exporters?.includes("none")) return OFF;
  if (exporters !== undefined && !exporters.includes("otlp"))
    return unsupported("OTEL_TRACES_EXPORTER", exporters.join(), "otlp and none");
  const protocol =
    valueOf("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ?? valueOf("OTEL_EXPORTER_OTLP_PROTOCOL") ?? "http/protobuf";
  if (protocol === "http/protobuf" || protocol === "http/json") return { kind: "on", protocol };
  return unsupported("OTEL_EXPORTER_OTLP_PROTOCOL", protocol, "http/protobuf and http/json");
}

const unsupported = (name: string, value: string, known: string): TracingWish => ({
  kind: "unsupported",
  problem: `${name} is ${value.slice(0, 100)}; known here are ${known}`,
});
