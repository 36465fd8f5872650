import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MessageTrace, traceMessages } from "../support/broker/message-trace.ts";
import { eventually } from "../support/eventually.ts";
import { type OtlpReceiver, otlpReceiver, type ReceivedSpan } from "../support/monitoring/otlp-receiver.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const CREATE = "POST /api/v1/observers";
const PUBLISH = "publish unacked.start:default";
const START = "process unacked.start:default:unacked.work.default";
const IN_BOOKS = "process unacked.events:state:unacked.state";
const ORDER = "process unacked.control";

const OBSERVERS = "test/fixtures/traced-observers";

/** As a client that is traced itself sends them. */
function newCaller() {
  const traceId = randomBytes(16).toString("hex");
  const spanId = randomBytes(8).toString("hex");
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01`, tracestate: "shop=42" } };
}

const linesOf = (process: RunningProcess) =>
  process.lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a trace", () => {
  let receiver: OtlpReceiver;
  let system: System;
  let wire: MessageTrace;
  let manager: RunningProcess;

  beforeAll(async () => {
    receiver = await otlpReceiver();
    system = await freshSystem({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=a-key-of-the-collector",
        OTEL_BSP_SCHEDULE_DELAY: "50",
      },
    });
    wire = await traceMessages(system.env.AMQP_URL ?? "", system.management);
    manager = await system.startManager();
    await startService("service-1");
  });
  afterAll(async () => {
    await wire.close();
    await system.close();
    await receiver.close();
  });

  const startService = (name: string) => system.startService(name, { env: { OBSERVERS_DIR: OBSERVERS } });
  const call = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    callHttp(`${system.url}${path}`, method, { json, headers });
  const create = (name: string, headers: Record<string, string>, more: object = {}) =>
    call("POST", "/api/v1/observers", { name, type: "traced", params: { secret: "s3cr3t-param" }, ...more }, headers);

  const of = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);
  /** The only one of this name in that trace that fits. */
  const one = (traceId: string, name: string, fits: (span: ReceivedSpan) => boolean = () => true): Promise<ReceivedSpan> =>
    eventually(
      () => {
        const found = of(traceId).filter((span) => span.name === name && fits(span));
        const have = of(traceId).map((span) => span.name);
        expect(found.length, `${name} among ${have.join(", ")}`).toBe(1);
        return found[0] as ReceivedSpan;
      },
      { what: `the span ${name}` },
    );

  it("goes from the caller through POST, the queue and the handler's start into the books", async () => {
    const caller = newCaller();
    const { status, body } = await create("first", { ...caller.headers, "x-request-id": "request-of-first" });
    expect(status).toBe(201);

    const server = await one(caller.traceId, CREATE);
    const publish = await one(caller.traceId, PUBLISH);
    const start = await one(caller.traceId, START);
    const books = await one(caller.traceId, IN_BOOKS);
    expect([server, publish, start, books].map(({ program, kind, parentSpanId }) => [program, kind, parentSpanId])).toEqual([
      ["observer-manager", "server", caller.spanId],
      ["observer-manager", "producer", server.spanId],
      ["observer-service", "consumer", publish.spanId],
      ["observer-manager", "consumer", start.spanId],
    ]);
    expect(server.attributes).toMatchObject({
      "http.request.method": "POST",
      "http.route": "/api/v1/observers",
      "http.response.status_code": 201,
      "unacked.request.id": "request-of-first",
    });
    const about = { "unacked.observer.id": body.id, "unacked.observer.name": "first", "unacked.observer.type": "traced" };
    expect(publish.attributes).toMatchObject({
      ...about,
      "messaging.system": "rabbitmq",
      "messaging.operation.type": "send",
      "messaging.destination.name": "unacked.start:default",
    });
    expect(start.attributes).toMatchObject({
      ...about,
      "messaging.message.id": publish.attributes["messaging.message.id"],
      "unacked.attempt": 1,
      "unacked.redelivered": false,
    });
    expect(books.attributes).toMatchObject({
      "unacked.event": "RunStarted",
      "unacked.run.id": start.attributes["unacked.run.id"],
    });
    const sent = wire.messages.find(
      ({ properties }) => properties.message_id === publish.attributes["messaging.message.id"],
    );
    expect(sent?.properties.headers).toMatchObject({
      traceparent: `00-${caller.traceId}-${publish.spanId}-01`,
      tracestate: "shop=42",
    });
  });

  it("is named in the lines of the log that belong to it, and an author's own span is a part of it", async () => {
    const caller = newCaller();
    await create("logged", { ...caller.headers, "x-request-id": "request-of-logged" });
    const server = await one(caller.traceId, CREATE);
    const start = await one(caller.traceId, START);
    const work = await one(caller.traceId, "a piece of work");
    expect(work.parentSpanId).toBe(start.spanId);

    const service = system.service("service-1");
    const line = (process: RunningProcess, fits: object) =>
      eventually(() => {
        const found = linesOf(process).filter((each) => Object.entries(fits).every(([key, value]) => each[key] === value));
        expect(found).toHaveLength(1);
        return found[0];
      });
    const ids = ({ traceId, spanId }: ReceivedSpan) => ({ traceId, spanId });
    expect(await line(manager, { requestId: "request-of-logged" })).toMatchObject(ids(server));
    expect(await line(service, { event: "run-started", observer: "logged" })).toMatchObject(ids(start));
    expect(await line(service, { msg: "begins", observer: "logged" })).toMatchObject(ids(start));
    expect(await line(service, { msg: "works", observer: "logged" })).toMatchObject(ids(work));
  });

  it("is each call's own where calls share a transaction, and one where a call creates many", async () => {
    const callers = Array.from({ length: 8 }, newCaller);
    await Promise.all(callers.map((caller, i) => create(`beside-${i}`, caller.headers, { whenFull: "queue" })));
    for (const [i, caller] of callers.entries()) {
      const server = await one(caller.traceId, CREATE);
      const publish = await one(caller.traceId, PUBLISH);
      expect(publish).toMatchObject({ parentSpanId: server.spanId, attributes: { "unacked.observer.name": `beside-${i}` } });
    }
    const batch = newCaller();
    const observers = ["a", "b", "c"].map((name) => ({
      name: `batch-${name}`,
      type: "traced",
      params: { secret: "s3cr3t-param" },
      whenFull: "queue",
    }));
    await call("POST", "/api/v1/observers/batch", { observers }, batch.headers);
    const server = await one(batch.traceId, "POST /api/v1/observers/batch");
    const sent = await eventually(() => {
      const found = of(batch.traceId).filter(({ name }) => name === PUBLISH);
      expect(found).toHaveLength(3);
      return found;
    });
    expect(sent.map(({ parentSpanId }) => parentSpanId)).toEqual([server.spanId, server.spanId, server.spanId]);
    const names = [...observers.map(({ name }) => name), ...callers.map((_, i) => `beside-${i}`)];
    await call("POST", "/api/v1/observers/stop", { names, force: true });
    await system.untilStatus(names, "Deleted");
  });

  it("goes on where a stop and a restart are asked for, each in the trace of its own call", async () => {
    await create("changed", {});
    await system.untilStatus(["changed"], "Processing");

    const restart = newCaller();
    await call("POST", "/api/v1/observers/changed/restart", undefined, restart.headers);
    const server = await one(restart.traceId, "POST /api/v1/observers/{ref}/restart");
    const sent = await one(restart.traceId, "publish unacked.service");
    const order = await one(restart.traceId, ORDER);
    const again = await one(restart.traceId, START);
    const chain = [sent, order, again].map(({ parentSpanId }) => parentSpanId);
    expect(chain).toEqual([server.spanId, sent.spanId, order.spanId]);
    const told = await one(restart.traceId, IN_BOOKS, ({ attributes }) => attributes["unacked.event"] === "RunStarted");
    expect(told.parentSpanId).toBe(again.spanId);

    const stop = newCaller();
    await call("DELETE", "/api/v1/observers/changed", undefined, stop.headers);
    const stopped = await one(stop.traceId, IN_BOOKS, ({ attributes }) => attributes["unacked.event"] === "RunStopped");
    const way = [stopped];
    for (const name of [ORDER, "publish unacked.control", "DELETE /api/v1/observers/{ref}"]) {
      const before = await one(stop.traceId, name);
      expect(way[0]?.parentSpanId).toBe(before.spanId);
      way.unshift(before);
    }
    expect(way[0]?.parentSpanId).toBe(stop.spanId);
    await system.untilStatus(
      [(await call("GET", "/api/v1/observers?q=changed&status=Deleted")).body.items[0].id],
      "Deleted",
    );
  });

  it("does not grow with attempts: a later one begins its own, and names the first", async () => {
    const caller = newCaller();
    const retry = { maxAttempts: 3, delaysMs: [10], resetAfterMs: 60_000 };
    await create("fails", caller.headers, { params: { secret: "s3cr3t-param", failTimes: 1 }, retry });
    const publish = await one(caller.traceId, PUBLISH);
    await one(caller.traceId, START);
    const later = await eventually(() => {
      const found = receiver.spans.filter(
        ({ name, attributes }) =>
          name === START && attributes["unacked.observer.name"] === "fails" && attributes["unacked.attempt"] === 2,
      );
      expect(found).toHaveLength(1);
      return found[0] as ReceivedSpan;
    });
    expect(later).toMatchObject({
      parentSpanId: undefined,
      links: [{ traceId: caller.traceId, spanId: publish.spanId }],
    });
    expect(await one(later.traceId, IN_BOOKS)).toMatchObject({ parentSpanId: later.spanId });
    expect(of(caller.traceId).filter(({ name }) => name === START)).toHaveLength(1);
  });

  it("is joined by the run on another service when its own is killed: the message bears it", async () => {
    const caller = newCaller();
    const { body } = await call(
      "POST",
      "/api/v1/observers",
      { name: "moving", type: "stamp", params: { file: system.actsFile } },
      caller.headers,
    );
    const publish = await one(caller.traceId, PUBLISH);
    const before = await one(caller.traceId, START);
    await one(caller.traceId, IN_BOOKS);
    await startService("service-2");
    await system.service("service-1").kill("SIGKILL");

    const after = await one(caller.traceId, START, ({ spanId }) => spanId !== before.spanId);
    expect(after.parentSpanId).toBe(publish.spanId);
    expect(after.instanceId).not.toBe(before.instanceId);
    expect(after.attributes).toMatchObject({ "unacked.observer.id": body.id, "unacked.redelivered": true });
    await one(caller.traceId, IN_BOOKS, ({ parentSpanId }) => parentSpanId === after.spanId);
    await system.check();
  });

  it("holds neither params nor a query, a password or a key, and no span of what nobody asked for", async () => {
    await call("GET", "/api/v1/observers?q=s3cr3t-query");
    await call("GET", "/healthz");
    await call("GET", "/api/v1/nothing-here");
    await eventually(() => {
      const names = receiver.spans.map(({ name }) => name);
      expect(names).toContain("GET /api/v1/observers");
      expect(names).toContain("GET");
    });
    const arrived = Buffer.concat(receiver.bodies).toString();
    const passwords = [system.env.AMQP_URL, system.env.DATABASE_URL].map((url) => new URL(url ?? "").password);
    for (const secret of ["s3cr3t", "a-key-of-the-collector", ...passwords.filter((each) => each.length > 3)])
      expect(arrived).not.toContain(secret);
    const known = new Set([CREATE, PUBLISH, START, IN_BOOKS, ORDER, "publish unacked.control", "publish unacked.service"]);
    const others = receiver.spans.filter(
      ({ name, kind }) => kind !== "server" && !known.has(name) && name !== "a piece of work",
    );
    expect(others.map(({ name }) => name)).toEqual([]);
    expect(receiver.spans.filter(({ name }) => /healthz|stamp|moving|first/.test(name))).toEqual([]);
  });
});
