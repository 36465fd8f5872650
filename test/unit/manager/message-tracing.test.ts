import { type EventBatch, newMessageId, newObserverId, newRunId, newServiceId } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { groupCommands } from "../../../services/observer-manager/src/adapters/amqp/commands/command-groups.ts";
import { MessageTracing } from "../../../services/observer-manager/src/adapters/amqp/deliveries/message-tracing.ts";
import type { DueCommand } from "../../../services/observer-manager/src/operations/commands/command-store.ts";
import { keptTracing } from "../../support/monitoring/kept-tracing.ts";

const stop = (traceContext?: string | null): DueCommand => ({
  id: "1",
  sentCount: 0,
  traceContext,
  kind: "stop",
  observerId: newObserverId(),
  revision: 1,
});
const published = {
  exchange: "unacked.control",
  routingKey: "",
  body: {},
  type: "StopObservers",
  messageId: "m",
  appId: "a",
};

function publish(commands: DueCommand[]) {
  const { tracing, spans } = keptTracing();
  const messages = groupCommands(commands).map((group) => new MessageTracing(tracing).publish(group, published));
  return { messages, spans };
}

describe("a message that is sent", () => {
  test("for one call is a part of its trace, with the headers by which it goes on", () => {
    const { messages, spans } = publish([stop("of-call 1"), stop("of-call 1"), stop(null)]);
    expect(spans).toMatchObject([
      { name: "publish unacked.control", parent: "of-call 1", links: [], attributes: { "unacked.targets": 3 } },
    ]);
    expect(messages.map((message) => message?.message.headers)).toEqual([{ traceparent: "span-1" }]);
  });

  test("for several calls is a part of none of their traces, and names them all", () => {
    const { spans } = publish([stop("of-one"), stop("of-another"), stop("of-one")]);
    expect(spans).toMatchObject([{ parent: undefined, links: ["of-one", "of-another"] }]);
  });

  test("for no call has no span, unless it starts an observer", () => {
    const serviceId = newServiceId();
    const probe: DueCommand = { id: "2", sentCount: 0, traceContext: null, kind: "probe", serviceId, generation: 1 };
    expect(publish([stop(), stop(null), probe])).toEqual({ messages: [undefined, undefined], spans: [] });
    const start = { observerId: newObserverId(), revision: 2, name: "n", type: "t", pool: "default", params: { pin: 1234 } };
    const { spans } = publish([{ id: "3", sentCount: 0, kind: "start", start } as unknown as DueCommand]);
    expect(spans).toMatchObject([
      { parent: undefined, attributes: { "unacked.observer.name": "n", "unacked.revision": 2 } },
    ]);
    expect(JSON.stringify(spans)).not.toContain("1234");
  });
});

test("of what is in the books, starts and stops that are traced have a span each, and nothing else has", () => {
  const { tracing, spans } = keptTracing();
  const about = { observerId: newObserverId(), runId: newRunId(), messageId: newMessageId(), revision: 1, at: 0 };
  const events = [
    { kind: "RunStarted", ...about, attempt: 1, traceContext: "of-start" },
    { kind: "RunStarted", ...about, attempt: 1 },
    { kind: "RunStopped", ...about, reason: "stopped", traceContext: "of-stop" },
    { kind: "RunCompleted", ...about },
    { kind: "ServiceDied", at: 0, reason: "r" },
  ] satisfies EventBatch["events"];
  const service = { serviceId: newServiceId(), serviceName: "s", pool: "default", workerCount: 1, generation: 1, seq: 1 };
  new MessageTracing(tracing).inBooks(
    [
      { kind: "DeathCertificate", serviceId: service.serviceId, generation: 1 },
      { kind: "EventBatch", ...service, events } as EventBatch,
    ],
    0,
  );
  expect(spans).toMatchObject([
    { parent: "of-start", attributes: { "unacked.event": "RunStarted", "unacked.run.id": about.runId }, ended: {} },
    { parent: "of-stop", attributes: { "unacked.event": "RunStopped" }, ended: {} },
  ]);
});
