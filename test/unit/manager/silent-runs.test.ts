import { newServiceId, type ServiceEvent } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { failed, held, newServices, released, retrying, runOf, Scene, started, stopped } from "./books-fixture.ts";

/** The services' clock says 1,000 in these events. */
const quiet = (run: Parameters<typeof started>[0], quietForMs: number) => ({ ...started(run), quietForMs });

describe("an observer that is silent", () => {
  function silent() {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(service, [started(run), quiet(run, 400)]);
    expect(observer).toMatchObject({ status: "Processing", silentSinceMs: 600, attempts: 1, runNumber: 1 });
    return { scene, service, observer, run };
  }

  it("is marked since its last beat, until it is heard again", () => {
    const { scene, service, observer, run } = silent();
    scene.say(service, [started(run)]);
    expect(observer).toMatchObject({ status: "Processing", silentSinceMs: null, currentRunId: run.runId });
  });

  it.each([
    ["its attempt fails", retrying],
    ["it fails for good", failed],
    ["it is stopped", stopped],
    ["its service drains", released],
  ])("is not, once %s", (_, end) => {
    const { scene, service, observer, run } = silent();
    scene.say(service, [end(run)]);
    expect(observer.silentSinceMs).toBeNull();
  });

  it("is not, once another run of it is the current one; and what is said of the old one then changes nothing", () => {
    const { scene, service, observer, run } = silent();
    const [, other] = newServices();
    const next = runOf(observer, { messageId: run.messageId });
    scene.say(other, [started(next)]);
    expect(observer).toMatchObject({ currentRunId: next.runId, silentSinceMs: null });
    scene.say(service, [quiet(run, 900)]);
    expect(observer.silentSinceMs).toBeNull();
    scene.say(service, [held(run)]);
    expect(observer).toMatchObject({ currentRunId: run.runId, silentSinceMs: null });
  });

  it("is known as silent from an inventory, where the books have lost the run", () => {
    const scene = new Scene();
    const observer = scene.observer();
    const { observerId, runId, messageId, revision } = runOf(observer);
    const runs = [{ observerId, runId, messageId, revision, attempt: 2, quietForMs: 300 }];
    const inventory = { kind: "Inventory" as const, at: 1_000, inventoryId: runId, part: 1, parts: 1, runs };
    scene.say(newServiceId(), [inventory]);
    expect(observer).toMatchObject({ status: "Processing", silentSinceMs: 700, attempts: 2 });
  });
});

describe("the story of a run", () => {
  it("has what happened in it, and of what happens too often the newest", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    const run = runOf(observer);
    const story = () => scene.books.runs.get(run.runId)?.story;
    scene.say(service, [started(run), quiet(run, 400), quiet(run, 450), started(run)]);
    expect(story()).toEqual([
      { kind: "silent", atMs: 1_000, text: "silent for 0 s" },
      { kind: "heard", atMs: 1_000 },
    ]);
    for (let attempt = 1; attempt <= 30; attempt += 1)
      scene.say(service, [retrying(run, attempt), started(run, attempt + 1)]);
    expect(story()).toHaveLength(20);
    expect(story()?.at(-1)).toEqual({ kind: "attempt-failed", atMs: 1_000, attempt: 30, text: "Error: boom" });
    expect(observer.restarts).toBe(30);
  });

  it("counts no restart for a first run, nor for what is only said once more; but each run after it", () => {
    const scene = new Scene();
    const [a, b] = newServices();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(a, [started(run), started(run), quiet(run, 400), started(run)]);
    expect(observer.restarts ?? 0).toBe(0);
    scene.say(b, [started(runOf(observer, { messageId: run.messageId }))]);
    expect(observer.restarts).toBe(1);
  });
});

describe("what is counted by the minute", () => {
  const sums = (scene: Scene) => {
    const [row] = scene.books.figures.rows();
    return [row?.starts, row?.failures, row?.interruptions, row?.emits];
  };
  const alive = (emits: Record<string, number>): ServiceEvent => ({
    kind: "ServiceAlive",
    at: 1_000,
    workerCount: 10,
    running: 0,
    memoryBytes: 0,
    eventLoopLagMs: 0,
    draining: false,
    emits,
  });

  it("has each start and failure once, also of attempts that a service told together", () => {
    const scene = new Scene();
    const service = newServiceId();
    const observer = scene.observer();
    const run = runOf(observer);
    scene.say(service, [started(run), retrying(run, 1), started(run, 2)]);
    expect(sums(scene)).toEqual([2, 1, 0, 0]);
    // The starts of attempts 3 and 4 were passed over, as was what became of 2 and 3.
    scene.say(service, [retrying(run, 4), started(run, 5), failed({ ...run })]);
    expect(sums(scene)).toEqual([5, 5, 0, 0]);
    expect(observer.restarts).toBe(4);
  });

  it("has what ended through no fault of its own, and nothing that was asked for", () => {
    const scene = new Scene();
    const service = newServiceId();
    const [one, two, three] = [scene.observer(), scene.observer(), scene.observer()] as const;
    const [runOne, runTwo, runThree] = [runOf(one), runOf(two), runOf(three)];
    scene.say(service, [started(runOne), started(runTwo), started(runThree)]);
    scene.say(service, [
      stopped(runOne, "restarted"),
      { ...stopped(runTwo, "restarted"), interruption: "its slot ended" } as ServiceEvent,
    ]);
    scene.say(service, [released(runThree)]);
    expect(sums(scene)).toEqual([3, 0, 2, 0]);
  });

  it("has what was emitted since it was told last, from the first that the books hear of a boot on", () => {
    const scene = new Scene();
    const service = newServiceId();
    scene.say(service, [alive({ ticker: 1_000 })]);
    expect(sums(scene)).toEqual([undefined, undefined, undefined, undefined]);
    scene.say(service, [alive({ ticker: 1_250 })]);
    scene.say(service, [alive({ ticker: 1_250 })]);
    scene.say(service, [alive({ ticker: 1_260 })]);
    expect(sums(scene)).toEqual([0, 0, 0, 260]);
  });
});
