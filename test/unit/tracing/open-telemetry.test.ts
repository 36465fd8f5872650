import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { context, diag, propagation, trace } from "@opentelemetry/api";
import { loadTracing, type Tracing } from "@unacked/tracing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type OtlpReceiver, otlpReceiver } from "../../support/monitoring/otlp-receiver.ts";

const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 congo=t61rcWkgMzE";
const UNSAMPLED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

let receiver: OtlpReceiver;
beforeEach(async () => {
  receiver = await otlpReceiver();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const api of [context, diag, propagation, trace]) api.disable();
  await receiver.close();
});

const lines: Record<string, unknown>[] = [];
const keep = (fields: object) => void lines.push({ ...fields });

async function load(variables: Record<string, string> = {}): Promise<Tracing> {
  for (const [name, value] of Object.entries({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", ...variables }))
    vi.stubEnv(name, value);
  lines.length = 0;
  const about = { program: "observer-service", version: "1.2.3", instanceId: "an-instance" };
  const tracing = await loadTracing({ ...about, hostsOthers: true, log: { info: keep, warn: keep } });
  return tracing ?? expect.fail("nothing is traced");
}

describe("a span", () => {
  it("is a part of its parent, or begins a trace where that cannot be read, and arrives with what was said of it", async () => {
    const tracing = await load({ OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test" });
    const span = tracing.start({ name: "a", kind: "producer", parent: PARENT, attributes: { one: 1, none: undefined } });
    span.describe({ two: "2" });
    span.rename("b");
    span.end("returned");
    tracing.start({ name: "root", kind: "server", parent: "nonsense", links: [PARENT, "nonsense"] }).end();
    await tracing.close(20_000);

    expect(span.context).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01 congo=t61rcWkgMzE$/);
    expect(receiver.spans).toMatchObject([
      {
        program: "observer-service",
        instanceId: "an-instance",
        name: "b",
        kind: "producer",
        failed: true,
        parentSpanId: "00f067aa0ba902b7",
        ...span.ids,
        attributes: { one: 1, two: "2", "error.type": "returned" },
      },
      {
        name: "root",
        kind: "server",
        parentSpanId: undefined,
        failed: false,
        links: [{ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }],
      },
    ]);
    expect(receiver.spans[0]?.attributes).not.toHaveProperty("none");
    expect(receiver.bodies.join()).toContain("deployment.environment.name");
  });

  it("that its caller does not want is not sent, and neither is what follows from it", async () => {
    const tracing = await load();
    const span = tracing.start({ name: "a", kind: "server", parent: UNSAMPLED });
    const next = tracing.start({ name: "b", kind: "producer", parent: span.context });
    expect(next.context).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/);
    for (const each of [next, span]) each.end();
    tracing.start({ name: "wanted", kind: "server" }).end();
    await tracing.close(20_000);
    expect(receiver.spans.map(({ name }) => name)).toEqual(["wanted"]);
  });

  it("is what others' spans hang below, also after a wait, and only within it", async () => {
    const tracing = await load();
    const span = tracing.start({ name: "a", kind: "consumer" });
    await tracing.within(span, async () => {
      await sleep(1);
      expect(tracing.activeIds()).toMatchObject(span.ids);
      trace.getTracer("others").startSpan("theirs").end();
    });
    expect(tracing.activeIds()).toBeUndefined();
    span.end();
    await tracing.close(20_000);
    expect(receiver.spans.find(({ name }) => name === "theirs")).toMatchObject({ parentSpanId: span.ids.spanId });
  });

  it("goes as protobuf unless JSON is asked for, to its sampler's taste", async () => {
    const tracing = await load({ OTEL_EXPORTER_OTLP_PROTOCOL: "", OTEL_TRACES_SAMPLER: "parentbased_always_off" });
    tracing.start({ name: "unwanted", kind: "server" }).end();
    const span = tracing.start({ name: "wanted", kind: "server", parent: PARENT });
    span.end();
    await tracing.close(20_000);
    expect([...receiver.contentTypes]).toEqual(["application/x-protobuf"]);
    const arrived = Buffer.concat(receiver.bodies);
    expect(arrived.includes(Buffer.from(span.ids.spanId, "hex"))).toBe(true);
    expect(arrived.includes("unwanted")).toBe(false);
  });
});

describe("tracing", () => {
  it("ends in time where the collector never answers", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const tracing = await load({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    tracing.start({ name: "a", kind: "server" }).end();
    const beganAtMs = performance.now();
    await tracing.close(300);
    expect(performance.now() - beganAtMs).toBeLessThan(8_000); // the exporter's own limit is 10 s
    silent.close();
  });

  it("goes on where a variable is wrong, and says so", async () => {
    const tracing = await load({ OTEL_TRACES_SAMPLER: "sometimes" });
    await tracing.close(100);
    expect(lines.map(({ event }) => event)).toEqual(["tracing-complaint", "tracing"]);
    expect(lines[0]?.detail).toContain("OTEL_TRACES_SAMPLER");
  });

  it("is off, and says so, where it is asked for what is not there", async () => {
    await expect(load({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).rejects.toThrow("nothing is traced");
    expect(lines).toMatchObject([{ event: "tracing-off", problem: expect.stringContaining("grpc") }]);
  });
});
