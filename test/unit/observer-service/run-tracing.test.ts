import type { Delivery } from "@unacked/broker";
import {
  newMessageId,
  newObserverId,
  type RunStarted,
  type RunStopped,
  type ServiceEvent,
  type StartObserver,
} from "@unacked/contracts";
import { defineObserver, type ObserverContext } from "@unacked/sdk";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { LiveRun } from "../../../services/observer-service/src/keeper/runs/live-run.ts";
import { RunTracing } from "../../../services/observer-service/src/keeper/runs/run-tracing.ts";
import { Runner } from "../../../services/observer-service/src/keeper/runs/runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { keptTracing } from "../../support/monitoring/kept-tracing.ts";
import { localHandlers } from "../../support/slots/local-handlers.ts";

const ORDER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** A runner whose runs are traced, with no broker and an observer that does as it is told. */
function traced(handler: (context: ObserverContext) => Promise<void>) {
  const { tracing, spans } = keptTracing();
  const runTracing = new RunTracing(tracing);
  const told: ServiceEvent[] = [];
  const definition = defineObserver({ type: "told", params: z.strictObject({}), run: handler });
  const runner = new Runner({
    handlers: localHandlers(definition),
    events: { tell: (event) => void told.push(event) },
    errors: { report: () => Promise.resolve() },
    output: () => Promise.resolve(),
    holds: () => true,
    log: createLog("silent"),
    stopTimeoutMs: 1_000,
    tailBytes: 8_192,
    tracing: runTracing,
  });
  const start: StartObserver = {
    observerId: newObserverId(),
    revision: 1,
    messageId: newMessageId(),
    name: "n",
    type: "told",
    params: {},
    labels: {},
    pool: "default",
    createdAt: new Date().toISOString(),
    retry: { maxAttempts: "unlimited", delaysMs: [1], resetAfterMs: 30 },
  };
  const delivery = { redelivered: true, generation: 1, queue: "q", settle: () => true } as unknown as Delivery;
  const run = () => runner.runs.all()[0] as LiveRun;
  /** An order as the manager sends it, traced or not. */
  const order = (headers: object): Delivery => ({ queue: "control", properties: { headers } }) as unknown as Delivery;
  const untilTold = <Kind extends ServiceEvent["kind"]>(kind: Kind, count = 1) =>
    eventually(() => {
      const found = told.filter((event): event is Extract<ServiceEvent, { kind: Kind }> => event.kind === kind);
      expect(found).toHaveLength(count);
      return found;
    });
  return {
    runner,
    runTracing,
    spans,
    run,
    order,
    untilTold,
    accept: (traceContext?: string) => runner.accept({ start, delivery, traceContext }),
    tracing,
  };
}

const untilStopped = ({ signal }: ObserverContext): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

describe("a run", () => {
  test("has a span for the start of its handler, of which the handler is a part and the manager is told", async () => {
    let inside: unknown;
    const service = traced((context) => {
      inside = service.tracing.activeIds();
      return untilStopped(context);
    });
    service.accept("of-message");
    const [started] = await service.untilTold("RunStarted");
    expect(service.spans).toMatchObject([
      {
        parent: "of-message",
        ended: { errorType: undefined },
        attributes: { "unacked.attempt": 1, "unacked.redelivered": true, "unacked.run.id": started?.runId },
      },
    ]);
    expect(started?.traceContext).toBe("span-1");
    expect(inside).toMatchObject({ spanId: "span-1" });
  });

  test("that is well again, or is retried, says nothing more in the trace of its message", async () => {
    let attempts = 0;
    const service = traced((context) => {
      attempts += 1;
      return attempts === 1 ? Promise.reject(new Error("no")) : untilStopped(context);
    });
    service.accept("of-message");
    const started = (await service.untilTold("RunStarted", 3)) as RunStarted[];
    expect(started.map(({ attempt, traceContext }) => [attempt, traceContext])).toEqual([
      [1, "span-1"],
      [2, "span-2"],
      [1, undefined],
    ]);
    expect(service.spans.map(({ parent, links }) => ({ parent, links }))).toEqual([
      { parent: "of-message", links: [] },
      { parent: undefined, links: ["of-message"] },
    ]);
  });

  test("that is stopped says so in the trace of the order, once however often that is sent", async () => {
    const service = traced(untilStopped);
    service.accept();
    await service.untilTold("RunStarted");
    const run = service.run();
    for (let times = 0; times < 2; times += 1) {
      service.runTracing.ordered(run, service.order({ traceparent: ORDER }));
      service.runner.stop(run, { kind: "stopped" });
    }
    const [stopped] = (await service.untilTold("RunStopped")) as RunStopped[];
    expect(service.spans.map(({ parent }) => parent)).toEqual([undefined, ORDER]);
    expect(stopped?.traceContext).toBe("span-2");
  });

  test("that follows from a restart in place is in the trace of that order", async () => {
    const service = traced(untilStopped);
    service.accept("of-message");
    await service.untilTold("RunStarted");
    const run = service.run();
    service.runTracing.ordered(run, service.order({ traceparent: ORDER }));
    service.runner.stop(run, { kind: "restarted" });
    await service.untilTold("RunStarted", 2);
    expect(service.spans.map(({ parent }) => parent)).toEqual(["of-message", ORDER, "span-2"]);
  });

  test("that is stopped by an order that nobody traces, or by a drain, has no more spans", async () => {
    const service = traced(untilStopped);
    service.accept("of-message");
    await service.untilTold("RunStarted");
    service.runTracing.ordered(service.run(), service.order({}));
    service.runner.stopAll({ kind: "draining" });
    await service.untilTold("RunReleased");
    expect(service.spans).toHaveLength(1);
  });
});
