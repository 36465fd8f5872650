import { describe, expect, it } from "vitest";
import {
  chunkOf,
  type EndedStep,
  isPassed,
  progressOf,
} from "../../../services/observer-manager/src/domain/flows/flow-progress.ts";
import { type RunStep, rerunOf } from "../../../services/observer-manager/src/domain/flows/flow-rerun.ts";

interface Step {
  ref: string;
  after: string[];
  onFailure: "fail" | "continue";
  fails: boolean;
}

const random = (below: number): number => Math.floor(Math.random() * below);

function anyGraph(): Step[] {
  const count = 1 + random(14);
  return Array.from({ length: count }, (_, i) => ({
    ref: `t${i}`,
    after: Array.from({ length: i }, (_unused, j) => `t${j}`).filter(() => Math.random() < 0.35),
    onFailure: Math.random() < 0.5 ? "fail" : "continue",
    fails: Math.random() < 0.25,
  }));
}

/** The books in memory: what waits, what is noted; followed in chunks of any size, in any order of ends. */
function run(steps: Step[]): { order: string[]; ended: Map<string, EndedStep> } {
  const byRef = new Map(steps.map((step) => [step.ref, step]));
  const waiting = new Map(steps.map(({ ref, after }) => [ref, after.length]));
  const blocked = new Set(steps.filter(({ after }) => after.length > 0).map(({ ref }) => ref));
  const due = steps.filter(({ after }) => after.length === 0).map(({ ref }) => ref);
  const order: string[] = [];
  const ended = new Map<string, EndedStep>();
  let noted: (EndedStep & { followers: number; passed: number })[] = [];
  const end = (ref: string, status: EndedStep["status"], reason: string | null): void => {
    expect(ended.has(ref), `${ref} ends twice`).toBe(false);
    const { onFailure } = byRef.get(ref) as Step;
    const step: EndedStep = { flowId: "f", ref, status, onFailure, reason };
    ended.set(ref, step);
    noted.push({ ...step, followers: steps.filter(({ after }) => after.includes(ref)).length, passed: 0 });
  };
  while (due.length > 0 || noted.length > 0) {
    if (due.length > 0 && (noted.length === 0 || Math.random() < 0.5)) {
      const [ref] = due.splice(random(due.length), 1) as [string];
      order.push(ref);
      end(ref, byRef.get(ref)?.fails ? "Failed" : "Completed", null);
      continue;
    }
    const chunk = chunkOf(noted.slice(0, 1 + random(4)), 1 + random(3));
    const followers = chunk.flatMap(({ end: { ref, passed }, count }) =>
      steps
        .filter(({ after }) => after.includes(ref))
        .slice(passed, passed + count)
        .map((step) => ({ flowId: "f", after: ref, ref: step.ref, taskId: step.ref, waiting: waiting.get(step.ref) ?? 0 })),
    );
    const progress = progressOf(
      chunk.map((one) => one.end),
      followers,
    );
    for (const one of progress.waiting) waiting.set(one.ref, one.waiting);
    for (const ref of progress.unlock) if (blocked.delete(ref)) due.push(ref);
    for (const { taskId, reason } of progress.cancel) if (blocked.delete(taskId)) end(taskId, "Cancelled", reason);
    const done = new Set(chunk.filter(({ isDone }) => isDone).map((one) => one.end.ref));
    const counts = new Map(chunk.map(({ end: { ref }, count }) => [ref, count]));
    noted = noted
      .filter(({ ref }) => !done.has(ref))
      .map((one) => ({ ...one, passed: one.passed + (counts.get(one.ref) ?? 0) }));
  }
  return { order, ended };
}

describe("following ends of a flow, in any order and in chunks of any size", () => {
  it("starts each task once, after all that it comes after, or cancels it because one of these failed", () => {
    for (let round = 0; round < 2_000; round += 1) {
      const steps = anyGraph();
      const { order, ended } = run(steps);
      expect(ended.size, "all of it is over").toBe(steps.length);
      expect(new Set(order).size, "each is started once").toBe(order.length);
      for (const { ref, after } of steps) {
        const before = after.map((one) => ended.get(one) as EndedStep);
        const ran = order.includes(ref);
        expect(ran, `${ref} of ${JSON.stringify(steps)}`).toBe(before.every(isPassed));
        for (const one of before)
          if (ran && order.includes(one.ref)) expect(order.indexOf(one.ref)).toBeLessThan(order.indexOf(ref));
        if (ran) continue;
        const { reason } = ended.get(ref) as EndedStep;
        const cause = /^(t\d+) failed$/.exec(reason ?? "")?.[1];
        expect(ended.get(cause ?? "")).toMatchObject({ status: "Failed", onFailure: "fail" });
      }
    }
  });

  it("takes no more than it may, in order, and says how far it came", () => {
    const ends = [3, 0, 5, 1].map((followers) => ({ followers, passed: 0 }));
    expect(chunkOf(ends, 6).map(({ count, isDone }) => [count, isDone])).toEqual([
      [3, true],
      [0, true],
      [3, false],
    ]);
    expect(chunkOf([{ followers: 5, passed: 3 }], 6).map(({ count, isDone }) => [count, isDone])).toEqual([[2, true]]);
  });
});

describe("running a flow again", () => {
  const step = (ref: string, after: string[], status: RunStep["status"], more: Partial<RunStep> = {}): RunStep => ({
    ref,
    after,
    status,
    onFailure: "fail",
    reason: null,
    ...more,
  });
  const FAILED = [
    step("a", [], "Completed"),
    step("b", ["a"], "Failed"),
    step("c", ["b"], "Cancelled", { reason: "b failed" }),
    step("d", ["a"], "Completed"),
    step("e", ["d", "c"], "Cancelled", { reason: "b failed" }),
  ];

  it.each<[string, string[] | undefined, object]>([
    ["from what failed", undefined, { again: ["b:0", "c:1", "e:1"], reason: null }],
    ["from a stage", ["b"], { again: ["b:0", "c:1", "e:1"], reason: null }],
    ["from its begin", ["a"], { again: ["a:0", "b:1", "c:1", "d:1", "e:2"], reason: null }],
    ["from several", ["d", "b"], { again: ["b:0", "c:1", "d:0", "e:2"], reason: null }],
  ])("%s: that and what comes after it", (_how, from, expected) => {
    const rerun = rerunOf(FAILED, from);
    expect("again" in rerun && { ...rerun, again: rerun.again.map(({ ref, waiting }) => `${ref}:${waiting}`) }).toEqual(
      expected,
    );
  });

  it("is refused behind what has no result, of what is unknown, and of nothing", () => {
    expect(rerunOf(FAILED, ["c"])).toEqual({ refused: '"c" comes after "b", which is Failed: begin there' });
    expect(rerunOf(FAILED, ["e"])).toEqual({ refused: '"e" comes after "c", which is Cancelled: begin there' });
    expect(rerunOf(FAILED, ["x"])).toEqual({ refused: 'There is no task "x" in this flow' });
    expect(rerunOf([step("a", [], "Completed")], undefined)).toEqual({
      refused: "All of it has completed: say from where it is to run again",
    });
  });

  it("goes on behind what failed with continue, and keeps the reason of what stays", () => {
    const steps = [
      step("a", [], "Failed", { onFailure: "continue" }),
      step("b", ["a"], "Completed"),
      step("c", [], "Failed"),
    ];
    expect(rerunOf(steps, ["b"])).toEqual({ again: [{ ref: "b", waiting: 0 }], reason: "c failed" });
  });
});
