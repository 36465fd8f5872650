import {
  ControlMessage,
  decodeList,
  newMessageId,
  newObserverId,
  newRunId,
  newServiceId,
  StateMessage,
} from "@unacked/contracts";
import { describe, expect, it } from "vitest";

const encoded = (body: unknown) => Buffer.from(JSON.stringify(body));

const completed = () => ({
  kind: "RunCompleted",
  observerId: newObserverId(),
  runId: newRunId(),
  messageId: newMessageId(),
  revision: 1,
  at: 1,
});

const batchOf = (...events: unknown[]) => ({
  kind: "EventBatch",
  serviceId: newServiceId(),
  serviceName: "service-1",
  pool: "default",
  workerCount: 1,
  generation: 1,
  seq: 7,
  events,
});

const decodeBatch = (...events: unknown[]) => decodeList(StateMessage, "events", encoded(batchOf(...events)));

describe("a message that carries a list", () => {
  it("leaves out an item of a kind that is not known, and one with a field that is wrong, and keeps their neighbours in order", () => {
    const [first, last] = [completed(), completed()];
    const unknown = { kind: "RunPaused", observerId: newObserverId() };
    const wrong = { ...completed(), revision: 0 };
    const decoded = decodeBatch(first, unknown, wrong, last);
    expect(decoded).toMatchObject({ ok: true, value: { seq: 7, events: [first, last] } });
    expect(decoded.ok && decoded.leftOut).toEqual([
      { item: unknown, reason: expect.stringContaining("/events/1/kind") },
      { item: wrong, reason: expect.stringContaining("/events/2/revision") },
    ]);
  });

  it("leaves out of a sign of life a death that it cannot read, and keeps the rest of it", () => {
    const death = { at: 1, pid: 1, purpose: "shared", end: "SIGKILL", runs: 1, reason: "culprit", why: "" };
    const odd = { ...death, culprit: { id: newObserverId(), name: newObserverId() } };
    const alive = { workerCount: 1, running: 0, memoryBytes: 1, eventLoopLagMs: 1, draining: false, slotDeathsLately: 2 };
    const decoded = decodeBatch({ kind: "ServiceAlive", at: 1, ...alive, slotDeaths: [odd, death, "odd"] });
    expect(decoded).toMatchObject({ ok: true, leftOut: [], value: { events: [{ ...alive, slotDeaths: [death] }] } });
  });

  it("keeps its envelope when every item is left out, and items that are no objects at all are", () => {
    const decoded = decodeBatch({ kind: "RunPaused" }, null, 5);
    expect(decoded).toMatchObject({ ok: true, value: { seq: 7, events: [] } });
    expect(decoded.ok && decoded.leftOut.map(({ item }) => item)).toEqual([{ kind: "RunPaused" }, null, 5]);
  });

  it("is refused whole when its envelope is wrong", () => {
    const { seq: _, ...withoutSeq } = batchOf({ kind: "RunPaused" });
    expect(decodeList(StateMessage, "events", encoded(withoutSeq))).toMatchObject({ ok: false });
    expect(decodeList(StateMessage, "events", encoded({ ...batchOf(), events: "none" }))).toMatchObject({ ok: false });
    expect(decodeList(StateMessage, "events", Buffer.from("{"))).toMatchObject({ ok: false });
    expect(decodeList(ControlMessage, "targets", encoded({ kind: "Explode", targets: [1] }))).toMatchObject({ ok: false });
  });

  it("of orders follows those that are understood", () => {
    const target = { observerId: newObserverId(), runId: newRunId(), messageId: newMessageId(), revision: 1 };
    const targets = [
      { ...target, reason: "duplicate" },
      { ...target, reason: "of-a-later-version" },
    ];
    const decoded = decodeList(ControlMessage, "targets", encoded({ kind: "StopRuns", targets }));
    expect(decoded).toMatchObject({ ok: true, value: { targets: [targets[0]] }, leftOut: [{ item: targets[1] }] });
  });
});
