import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { traceMessages } from "../support/broker/message-trace.ts";
import { eventually } from "../support/eventually.ts";
import { otlpReceiver } from "../support/monitoring/otlp-receiver.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const WATCHED = { NODE_OPTIONS: `--import=${new URL("../fixtures/loaded-packages.mjs", import.meta.url).pathname}` };
const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

let system: System;
afterEach(() => system.close());

const filesLoaded = async (process: RunningProcess) => (await process.waitForEvent("loaded")).openTelemetry;
const linesOf = (process: RunningProcess, event: string) =>
  process.lines.filter((line) => line.includes(`"event":"${event}"`));

async function endedByTerm(process: RunningProcess): Promise<number> {
  const beganAtMs = performance.now();
  expect(await process.kill("SIGTERM")).toMatchObject({ code: 0 });
  return performance.now() - beganAtMs;
}

describe("without a variable that asks for it", () => {
  it("nothing of OpenTelemetry is loaded, nothing is on the wire, and no line has a trace", async () => {
    system = await freshSystem({ env: WATCHED });
    const wire = await traceMessages(system.env.AMQP_URL ?? "", system.management);
    const manager = await system.startManager();
    const service = await system.startService("service-1");
    const body = { name: "untraced", type: "stamp", params: { file: system.actsFile, sayEveryMs: 20 } };
    const headers = { traceparent: TRACEPARENT, "x-request-id": "untraced" };
    expect((await callHttp(`${system.url}/api/v1/observers`, "POST", { json: body, headers })).status).toBe(201);
    await system.untilStatus(["untraced"], "Processing");
    await service.waitForLine((line) => line.includes('"msg":"said"'));
    await system.remove("untraced");

    const sent = wire.messages.map(({ body: content, properties }) => ({ properties, content: content.toString() }));
    expect(sent.length).toBeGreaterThan(4);
    expect(JSON.stringify(sent)).not.toMatch(/traceparent|traceContext|4bf92f35/);
    await wire.close();
    expect(manager.lines.some((line) => line.includes('"requestId":"untraced"'))).toBe(true);
    for (const process of [service, manager]) {
      expect(process.lines.filter((line) => /traceId|spanId|4bf92f35/.test(line))).toEqual([]);
      await endedByTerm(process);
      expect(await filesLoaded(process)).toBe(0);
    }
  });

  it.runIf(isTurnOf(1))("a service that is traced begins a trace of its own for a message of any sender", async () => {
    system = await freshSystem();
    const receiver = await otlpReceiver();
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
    await system.startManager({ env: WATCHED });
    const service = await system.startService("service-1", { env: { ...WATCHED, ...traced } });
    await system.createMany("observer", 1);
    await system.check();
    await endedByTerm(service);
    // The check that nothing is loaded can fail.
    expect(await filesLoaded(service)).toBeGreaterThan(100);
    expect(receiver.spans.map(({ name, parentSpanId, links }) => ({ name, parentSpanId, links }))).toEqual([
      { name: "process unacked.start:default:unacked.work.default", parentSpanId: undefined, links: [] },
    ]);
    await receiver.close();
  });
});

describe("a collector that", () => {
  const FLUSH_LIMIT_MS = 2_000;

  /** Everything goes on, what is lost is said once by each program, and SIGTERM takes at most the time of one flush more. */
  async function costsNothing(endpoint: string, env: Record<string, string> = {}): Promise<void> {
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: "50", ...env };
    system = await freshSystem({ env: traced });
    const manager = await system.startManager();
    const service = await system.startService("service-1", { workers: 50 });
    await system.createMany("observer", 5);
    for (const process of [manager, service]) await process.waitForEvent("spans-lost");
    await system.createMany("more", 5);
    await system.check();
    const [ofService, ofManager] = [await endedByTerm(service), await endedByTerm(manager)];
    console.log(`SIGTERM with ${endpoint}: service ${ofService.toFixed(0)} ms, manager ${ofManager.toFixed(0)} ms`);
    expect(Math.max(ofService, ofManager)).toBeLessThan(FLUSH_LIMIT_MS + 30_000);
    for (const process of [manager, service]) {
      expect(linesOf(process, "spans-lost")).toHaveLength(1);
      expect(linesOf(process, "tracing-complaint")).toEqual([]);
    }
  }

  it.runIf(isTurnOf(0))("is not there costs nothing but its spans", () =>
    costsNothing("http://127.0.0.1:9", { OTEL_EXPORTER_OTLP_TIMEOUT: "500" }),
  );

  it.runIf(isTurnOf(2))("takes connections and never answers costs nothing but its spans", async () => {
    const silent: Server = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    await costsNothing(`http://127.0.0.1:${port}`, { OTEL_EXPORTER_OTLP_TIMEOUT: "3000" });
    silent.close();
  });

  it.runIf(isTurnOf(1))("comes back is sent spans again, and that is said once", async () => {
    const receiver = await otlpReceiver();
    const { port } = new URL(receiver.url);
    await receiver.close();
    const env = {
      OTEL_BSP_SCHEDULE_DELAY: "50",
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
    };
    system = await freshSystem({ env });
    const manager = await system.startManager();
    await system.listObservers();
    await manager.waitForEvent("spans-lost");
    const again = await otlpReceiver(Number(port));
    await eventually(async () => {
      await system.listObservers();
      expect(again.bodies.length).toBeGreaterThan(0);
    });
    expect((await manager.waitForEvent("spans-arrive")).lost).toBeGreaterThan(0);
    expect([...again.contentTypes]).toEqual(["application/x-protobuf"]);
    await again.close();
  });
});
