import type { RunId, SendId, ServiceId, TaskEvent, TaskEventBatch, TaskId } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { newsOf } from "../../../services/observer-manager/src/domain/tasks/task-words.ts";
import { isAmple, isNobodyFree, laneMsAt, windowOf } from "../../../services/observer-manager/src/domain/tasks/window.ts";

const task = { taskId: "task" as TaskId, sendId: "send" as SendId };
const started = (runId: string, interruption?: string): TaskEvent => ({
  ...{ kind: "TaskStarted", ...task, runId: runId as RunId, at: 10, interruption },
});
const released = (runId: string): TaskEvent => ({ kind: "TaskReleased", ...task, runId: runId as RunId, at: 20 });
const ended = (runId: string, outcome: "completed" | "failed" = "completed"): TaskEvent => ({
  ...{ kind: "TaskEnded", ...task, runId: runId as RunId, at: 30, startedAt: 10, outcome },
});
const returned = (isRedelivered: boolean, interruption?: string): TaskEvent => ({
  ...{ kind: "TaskReturned", ...task, at: 25, isRedelivered, interruption },
});
let seq = 0;
const batch = (service: string, ...events: TaskEvent[]): TaskEventBatch => ({
  ...{ kind: "TaskEventBatch", serviceId: service as ServiceId, serviceName: service, pool: "default", generation: 1 },
  ...{ seq: ++seq, events },
});
/** The first run, which the service `a` had. */
const gone = { runId: "1", by: { serviceId: "a", serviceName: "a", generation: 1 }, reason: "service-gone" };
const wordOf = (...batches: TaskEventBatch[]) => newsOf(batches).words[0];

describe("what services say of one send of a task", () => {
  it("is its end, whatever came before", () => {
    expect(wordOf(batch("a", started("1"), ended("1")))).toMatchObject({
      runId: "1",
      cut: [],
      end: { runId: "1" },
    });
  });

  it("is its first end, whichever run told it", () => {
    const word = wordOf(batch("a", started("1")), batch("b", started("2"), ended("2")), batch("a", ended("1", "failed")));
    expect(word).toMatchObject({ end: { runId: "2", outcome: "completed" }, by: { serviceId: "b" } });
  });

  it("counts a crash where another service has the message of a run that has not ended", () => {
    expect(wordOf(batch("a", started("1")), batch("b", started("2")))).toMatchObject({ cut: [gone] });
  });

  it("counts an interruption, and no crash, where it begins again on the same service", () => {
    expect(wordOf(batch("a", started("1"), started("2")))).toMatchObject({
      cut: [{ ...gone, reason: "restarted" }],
      runId: "2",
    });
  });

  it("counts nothing where it was released before it began elsewhere", () => {
    const word = wordOf(batch("a", started("1"), released("1")), batch("b", started("2")));
    expect(word).toMatchObject({ cut: [], runId: "2", told: ["1"] });
  });

  it("says of each run what its own service says of its end, and of the run before the first where that is told with it", () => {
    const word = wordOf(batch("a", started("1", "exit code 3"), started("2", "grew too large")), batch("b", started("3")));
    const { by } = gone;
    expect(word?.interruption).toBe("exit code 3");
    expect(word?.cut).toEqual([
      { runId: "1", by, reason: "restarted", detail: "grew too large" },
      { runId: "2", by, reason: "service-gone", detail: undefined },
    ]);
    const late = { ...ended("2"), interruption: "exit code 3" } as TaskEvent;
    expect(wordOf(batch("a", late))).toMatchObject({ interruption: "exit code 3", cut: [] });
    expect(wordOf(batch("a", returned(true, "its call did it")))).toMatchObject({ interruption: "its call did it" });
    expect(wordOf(batch("a", started("1"), returned(true, "its call did it")))).toMatchObject({
      interruption: undefined,
      cut: [{ runId: "1", reason: "restarted", detail: "its call did it" }],
    });
    const other = wordOf(batch("a", started("1"), released("1"), started("2", "exit code 3")));
    expect(other).toMatchObject({ interruption: undefined, cut: [] });
  });

  it("is a return where nobody has it any more, and an end all the same where one was told", () => {
    expect(wordOf(batch("a", returned(false)))).toMatchObject({
      returned: { isRedelivered: false, noSlot: false },
      cut: [],
    });
    expect(wordOf(batch("b", returned(true)), batch("a", ended("1")))).toMatchObject({ end: { runId: "1" } });
  });

  it("counts a crash where a bundle comes back of a service that had begun", () => {
    const word = wordOf(batch("a", started("1")), batch("b", returned(true)));
    expect(word).toMatchObject({ cut: [gone], runId: undefined, returned: { isRedelivered: true } });
    const given = wordOf(batch("a", started("1"), returned(false)));
    expect(given).toMatchObject({ cut: [] });
  });

  it("counts no crash where the service of the run before lives, and releases it late", () => {
    const late = batch("a", released("1"));
    const stillRuns = wordOf(batch("a", started("1")), batch("b", started("2")), late);
    expect(stillRuns).toMatchObject({ cut: [], runId: "2", told: ["1"] });
    const over = wordOf(batch("a", started("1")), batch("b", ended("2", "failed")), late);
    expect(over).toMatchObject({ cut: [], end: { runId: "2" } });
    const back = wordOf(batch("a", started("1")), batch("b", returned(true)), late);
    expect(back).toMatchObject({ cut: [], returned: { isRedelivered: true } });
    expect(wordOf(batch("b", started("2")), batch("a", released("1")))).toMatchObject({ runId: "2", told: ["1"] });
  });

  it("counts no crash of a run that ends, first or not, though another had begun meanwhile", () => {
    const both = [batch("a", started("1")), batch("b", started("2"))];
    const first = wordOf(...both, batch("a", ended("1", "failed")));
    expect(first).toMatchObject({ cut: [], end: { runId: "1" } });
    const second = wordOf(...both, batch("c", ended("3", "failed")), batch("b", ended("2")), batch("c", ended("3")));
    expect(second).toMatchObject({
      cut: [{ runId: "1", reason: "service-gone" }],
      told: ["2"],
      end: { runId: "3", outcome: "failed" },
    });
  });
});

describe("the window", () => {
  it("is nothing without workers, a quarter more than they are at rest, and 21 times as many at most", () => {
    expect(windowOf(0, 1_000)).toBe(0);
    expect(windowOf(10, 0)).toBe(13);
    expect(windowOf(10, 500)).toBe(60);
    expect(windowOf(10, 999)).toBe(110);
    expect(windowOf(100, 5_000)).toBe(1_100);
    expect(windowOf(10, 1_000_000)).toBe(210);
    expect(windowOf(2_147_483_647, 0)).toBe(1_000_000); // PostgreSQL takes it as an integer
    expect([windowOf(100, 2_000, 600), windowOf(100, 0, 600), windowOf(100, 50_000, 600)]).toEqual([1_300, 125, 2_100]);
  });

  it("has enough ahead where filling it took half of that at most, and something", () => {
    expect([0, 1, 8, 9].map((taken) => isAmple(27, 10, taken))).toEqual([false, true, true, false]);
    expect([1, 2].map((taken) => isAmple(5, 4, taken))).toEqual([false, false]);
    expect([0, 17, 18].map((taken) => isNobodyFree(27, 10, taken))).toEqual([true, true, false]);
  });

  it("lets a lane take as long as one of all may be waited for, a turn at least and 1.2 s at most", () => {
    expect([1, 5, 20, 60, 1_000].map((lanes) => laneMsAt(100, lanes))).toEqual([100, 100, 400, 1_200, 1_200]);
    expect([1, 5, 20, 60, 1_000].map((lanes) => laneMsAt(2_000, lanes))).toEqual([200, 200, 400, 1_200, 1_200]);
  });
});
