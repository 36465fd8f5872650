import { newMessageId, newObserverId, newRunId, type RunId, type ServiceEvent } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { Outbox } from "../../../services/observer-service/src/keeper/outbox/outbox.ts";

const identity = (runId: RunId) => ({ observerId: newObserverId(), runId, messageId: newMessageId(), revision: 1, at: 0 });
const started = (runId: RunId, attempt = 1): ServiceEvent => ({ kind: "RunStarted", ...identity(runId), attempt });
const retrying = (runId: RunId, attempt: number): ServiceEvent => ({
  kind: "RunRetrying",
  ...identity(runId),
  attempt,
  error: { name: "E", message: "" },
  delayMs: 0,
});
const completed = (runId: RunId): ServiceEvent => ({ kind: "RunCompleted", ...identity(runId) });
const alive = (at: number): ServiceEvent => ({
  kind: "ServiceAlive",
  at,
  workerCount: 1,
  running: 0,
  memoryBytes: 0,
  eventLoopLagMs: 0,
  draining: false,
});

function outboxWith(...events: ServiceEvent[]): Outbox {
  const outbox = new Outbox();
  for (const event of events) outbox.add({ event, generation: 1 });
  return outbox;
}

const sent = (outbox: Outbox) =>
  outbox.next()?.events.map((event) => ("attempt" in event ? `${event.kind} ${event.attempt}` : event.kind));

describe("batches", () => {
  test("give out the same batch with the same number until it is confirmed, whatever is told meanwhile", () => {
    const outbox = outboxWith(started(newRunId()));
    const first = outbox.next();
    outbox.add({ event: started(newRunId()), generation: 1 });
    expect(outbox.next()).toBe(first);
    outbox.confirmed();
    expect(outbox.next()).toMatchObject({ seq: 2, events: [{ kind: "RunStarted" }] });
    outbox.confirmed();
    expect(outbox.next()).toBeUndefined();
    expect(outbox.size).toBe(0);
  });
  test("tell each event's owner when it is confirmed, and not before", () => {
    const outbox = new Outbox();
    const confirmed: string[] = [];
    for (const name of ["a", "b"])
      outbox.add({ event: completed(newRunId()), generation: 1, onConfirmed: () => confirmed.push(name) });
    outbox.next();
    outbox.add({ event: completed(newRunId()), generation: 1, onConfirmed: () => confirmed.push("late") });
    expect(confirmed).toEqual([]);
    outbox.confirmed();
    expect(confirmed).toEqual(["a", "b"]);
  });
  test("hold at most 1,000 events, and events of one generation only", () => {
    const outbox = outboxWith(...Array.from({ length: 1_001 }, () => started(newRunId())));
    outbox.add({ event: started(newRunId()), generation: 2 });
    const sizes = [1, 2, 3].map(() => {
      const batch = outbox.next();
      outbox.confirmed();
      return [batch?.seq, batch?.generation, batch?.events.length];
    });
    expect(sizes).toEqual([
      [1, 1, 1_000],
      [2, 1, 1],
      [3, 2, 1],
    ]);
  });
  test.each(["x".repeat(700_000), "漢".repeat(60_000)])(
    "stay within 256 KiB, but never stop at an event that is larger",
    (message) => {
      const big = (): ServiceEvent => ({
        kind: "RunFailed",
        ...identity(newRunId()),
        attempts: 1,
        error: { name: "E", message },
      });
      const outbox = outboxWith(big(), big());
      expect(outbox.next()?.events).toHaveLength(1);
      outbox.confirmed();
      expect(outbox.next()?.events).toHaveLength(1);
    },
  );
});

describe("what waits is coalesced", () => {
  test("to first start, latest retry and latest start after it", () => {
    const runId = newRunId();
    const outbox = outboxWith(started(runId), retrying(runId, 1), started(runId, 2), retrying(runId, 2), started(runId, 3));
    expect(sent(outbox)).toEqual(["RunStarted 1", "RunRetrying 2", "RunStarted 3"]);
  });
  test("and an end makes a start after a retry superfluous, but not the first start", () => {
    const runId = newRunId();
    expect(sent(outboxWith(started(runId), retrying(runId, 1), started(runId, 2), completed(runId)))).toEqual([
      "RunStarted 1",
      "RunRetrying 1",
      "RunCompleted",
    ]);
  });
  test("in the order of what happened, also when the first start was sent before", () => {
    const runId = newRunId();
    const outbox = outboxWith(started(runId));
    outbox.next();
    for (const event of [retrying(runId, 1), started(runId, 2), retrying(runId, 2)]) outbox.add({ event, generation: 1 });
    outbox.confirmed();
    expect(sent(outbox)?.at(-1)).toBe("RunRetrying 2");
    expect(outbox.next()?.events.filter((event) => event.kind === "RunRetrying")).toHaveLength(1);
  });
  test("per run: one run's retries do not touch another's", () => {
    const [one, two] = [newRunId(), newRunId()];
    expect(sent(outboxWith(retrying(one, 1), retrying(two, 1)))).toHaveLength(2);
  });
  test("to the last sign of life", () => {
    expect(outboxWith(alive(1), alive(2), alive(3)).next()?.events).toMatchObject([{ at: 3 }]);
  });
  test("so that a broker that stays away does not fill the memory", () => {
    const runId = newRunId();
    const outbox = outboxWith(started(runId));
    for (let attempt = 1; attempt <= 50_000; attempt += 1) {
      outbox.add({ event: retrying(runId, attempt), generation: 1 });
      outbox.add({ event: started(runId, attempt + 1), generation: 1 });
    }
    expect(outbox.size).toBe(3);
    expect(sent(outbox)).toEqual(["RunStarted 1", "RunRetrying 50000", "RunStarted 50001"]);
  });
  test("and tells all who await what was replaced, however many they are", () => {
    const outbox = new Outbox();
    const confirmed: number[] = [];
    for (let i = 0; i < 20_000; i += 1) outbox.add({ event: alive(i), generation: 1, onConfirmed: () => confirmed.push(i) });
    expect(outbox.next()?.events).toHaveLength(1);
    outbox.confirmed();
    expect(confirmed).toEqual(Array.from({ length: 20_000 }, (_, i) => i));
  });
});
