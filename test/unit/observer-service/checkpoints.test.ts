import type { CheckpointSaved, ServiceEvent } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Checkpoints } from "../../../services/observer-service/src/keeper/runs/checkpoints.ts";
import type { LiveRun } from "../../../services/observer-service/src/keeper/runs/live-run.ts";

/** Of each checkpoint of these tests, with what its event holds beside: 2 + 400 bytes. */
const BYTES = 402;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const runOf = (id: string, generation = 1) =>
  ({
    runId: id,
    start: { observerId: id, messageId: id, revision: 1 },
    delivery: { generation },
    admission: { fencingToken: 7, ownTokens: 0 },
    fencingToken: 7,
  }) as unknown as LiveRun;

function checkpointsOf({ bytesPerS = 1e6 } = {}) {
  const told: CheckpointSaved[] = [];
  const confirms: (() => void)[] = [];
  const held = new Set([1]);
  const checkpoints = new Checkpoints({
    events: {
      tell: (event: ServiceEvent, onConfirmed) => {
        told.push(event as CheckpointSaved);
        if (onConfirmed !== undefined) confirms.push(onConfirmed);
      },
    },
    holds: (generation) => held.has(generation),
    bytesPerS,
  });
  const summary = () => told.map(({ runId, number, value }) => `${runId} ${number} ${value}`);
  return { checkpoints, confirms, held, summary };
}

test("a checkpoint is saved when the broker has confirmed it, and not before", async () => {
  const { checkpoints, confirms, summary } = checkpointsOf();
  const saved = vi.fn<() => void>();
  void checkpoints.save(runOf("a"), "10").then(saved);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(summary()).toEqual(["a 1 10"]);
  expect(saved).not.toHaveBeenCalled();
  confirms[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(saved).toHaveBeenCalledOnce();
});

test("one whose lease is lost before the confirm is not said to be saved: another run may have begun without it", async () => {
  const { checkpoints, confirms, held } = checkpointsOf();
  const saved = checkpoints.save(runOf("a"), "10");
  held.clear();
  confirms[0]?.();
  await expect(saved).rejects.toMatchObject({ code: "lease-lost" });
});

test("one whose lease is lost by then, or whose run was never admitted, is not even told", async () => {
  const { checkpoints, held, summary } = checkpointsOf();
  await expect(checkpoints.save(runOf("a", 2), "10")).rejects.toMatchObject({ code: "lease-lost" });
  const { admission: _none, ...never } = runOf("b");
  await expect(checkpoints.save(never as LiveRun, "10")).rejects.toMatchObject({ code: "lease-lost" });
  held.clear();
  await expect(checkpoints.save(runOf("a"), "10")).rejects.toMatchObject({ code: "lease-lost" });
  expect(summary()).toEqual([]);
});

test("numbers go on from what the run was given", () => {
  const { checkpoints, summary } = checkpointsOf();
  const run = runOf("a");
  Object.assign(run, { admission: { ...run.admission, checkpoint: { number: 41, value: "9" } } });
  void checkpoints.save(run, "10");
  void checkpoints.save(run, "11");
  expect(summary()).toEqual(["a 42 10", "a 43 11"]);
});

test("no more is told in a second than the service may save, and each run has its turn", async () => {
  const { checkpoints, summary } = checkpointsOf({ bytesPerS: BYTES });
  const [busy, other] = [runOf("busy"), runOf("other")];
  for (const json of ["10", "11", "12", "13"]) void checkpoints.save(busy, json);
  void checkpoints.save(other, "10");
  // The first second's, and one that begins before that is used up.
  expect(summary()).toEqual(["busy 1 10", "busy 2 11"]);
  await vi.advanceTimersByTimeAsync(999);
  expect(summary()).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(5);
  expect(summary().slice(2)).toEqual(["busy 3 12"]);
  await vi.advanceTimersByTimeAsync(1_005);
  expect(summary().slice(3)).toEqual(["other 1 10"]);
  await vi.advanceTimersByTimeAsync(1_005);
  expect(summary().slice(4)).toEqual(["busy 4 13"]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(summary()).toHaveLength(5);
});

test("what waits is told in its order, at once and once, before its run ends", async () => {
  const { checkpoints, summary } = checkpointsOf({ bytesPerS: BYTES });
  const run = runOf("a");
  for (const json of ["10", "11", "12", "13"]) void checkpoints.save(run, json);
  void checkpoints.save(runOf("b"), "20");
  checkpoints.flush(run);
  expect(summary()).toEqual(["a 1 10", "a 2 11", "a 3 12", "a 4 13"]);
  checkpoints.flush(run);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(summary().slice(4)).toEqual(["b 1 20"]);
});
