import {
  ControlMessage,
  decodeList,
  newMessageId,
  newObserverId,
  newRunId,
  newServiceId,
  StateMessage,
  TaskEventBatch,
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

const firstReasonOf = (decoded: ReturnType<typeof decodeList>): string =>
  (decoded.ok && decoded.leftOut[0]?.reason) || "nothing was left out";

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

  it("has no more of them than a service sends at once", () => {
    const decoded = decodeBatch(...Array.from({ length: 1_001 }, completed));
    expect(decoded).toEqual({ ok: false, reason: expect.stringMatching(/^\/events: Too big/) });
    expect(decodeBatch(...Array.from({ length: 1_000 }, completed))).toMatchObject({ ok: true, leftOut: [] });
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

describe("a message of which very much is wrong", () => {
  const { generation, serviceId, serviceName, pool } = { ...batchOf(), generation: 1 };
  const about = { kind: "TaskEventBatch", serviceId, serviceName, pool, generation, seq: 7 };
  const inventory = (held: unknown[]) => ({ kind: "TaskInventory", markerId: crypto.randomUUID(), held });
  const decodeTasks = (...events: unknown[]) => decodeList(TaskEventBatch, "events", encoded({ ...about, events }));

  it("is read in time that grows with its length, and tells of its first flaws", () => {
    const [wrong, right] = [inventory(Array(65_000).fill(1)), inventory([crypto.randomUUID()])];
    const beganMs = performance.now();
    const decoded = decodeTasks(right, wrong, right);
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    expect(decoded).toMatchObject({ ok: true, value: { events: [right, right] }, leftOut: [{ item: wrong }] });
    const reason = firstReasonOf(decoded);
    expect(reason.split("; ").map((flaw) => flaw.split(":")[0])).toEqual(
      Array.from({ length: 10 }, (_, i) => `/events/1/held/${i}`),
    );
  });

  it("is left unread behind so many flaws: each takes memory, and time in which nothing else is done", () => {
    const decoded = decodeTasks(...Array.from({ length: 3 }, () => inventory(Array(65_000).fill(1))), null);
    expect(decoded).toEqual({
      ok: false,
      reason: expect.stringMatching(/^\/events: too much is wrong.*\/events\/0\/held\/0/),
    });
  });

  it("is read whole where it is long, and nothing is wrong", () => {
    const events = [inventory(Array.from({ length: 65_000 }, () => crypto.randomUUID())), inventory([])];
    expect(decodeTasks(...events)).toEqual({ ok: true, value: { ...about, events }, leftOut: [] });
    const long = { ...about, seq: 0, events };
    expect(decodeList(TaskEventBatch, "events", encoded(long))).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^\/seq: /),
    });
  });

  it("is told of shortly, however long the names in it are", () => {
    const alive = { kind: "ServiceAlive", at: 1, workerCount: 1, running: 0, memoryBytes: 1, eventLoopLagMs: 1 };
    const decoded = decodeBatch({ ...alive, emits: { ["x".repeat(1_000_000)]: 1, [`${"y".repeat(250)}\u{1F600}`]: 1 } });
    const reason = firstReasonOf(decoded);
    expect(reason.length).toBeLessThan(2_000);
    expect(reason).toContain("/events/0/emits/xxx");
    expect(reason.isWellFormed()).toBe(true);
  });

  it("is told of as many types as a service may have, and reads no more of a sign of life", () => {
    const alive = {
      kind: "ServiceAlive",
      at: 1,
      workerCount: 1,
      running: 0,
      memoryBytes: 1,
      eventLoopLagMs: 1,
      draining: false,
    };
    const emits = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`t${i}`, i]));
    const decoded = decodeBatch({ ...alive, emits });
    const kept = Object.fromEntries(Object.entries(emits).slice(0, 2_000));
    expect(decoded).toMatchObject({ ok: true, leftOut: [], value: { events: [{ ...alive, emits: kept }] } });
    const odd = decodeBatch({ ...alive, slotDeaths: Array(200).fill(1) });
    expect(odd).toMatchObject({ ok: true, leftOut: [{ reason: expect.stringContaining("slotDeaths: Too big") }] });
  });
});
