import { CreateFlow, type FlowTask, MAX_FLOW_EDGES } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { circleIn } from "../../../services/observer-manager/src/domain/flows/circle.ts";
import { planFlaws, tasksOf } from "../../../services/observer-manager/src/domain/flows/flow-plan.ts";

const tasks = (after: Record<string, string[]>): FlowTask[] =>
  CreateFlow.parse({ tasks: Object.entries(after).map(([ref, before]) => ({ ref, type: "t", after: before })) }).tasks ?? [];

const flawsOf = (after: Record<string, string[]>) => planFlaws(tasks(after), "tasks");

describe("a flow that is asked for", () => {
  it("may be stages, each after the one before, under the names of their types", () => {
    const stages = tasksOf(
      CreateFlow.parse({ stages: ["fetch", { type: "fetch", params: { n: 2 } }, { type: "store", ref: "s" }] }),
    );
    expect(stages.map(({ ref, after, params }) => [ref, after, params])).toEqual([
      ["fetch", [], {}],
      ["fetch-2", ["fetch"], { n: 2 }],
      ["s", ["fetch-2"], {}],
    ]);
    expect(planFlaws(stages, "stages")).toEqual([]);
    const twice = tasksOf(
      CreateFlow.parse({
        stages: [
          { type: "a", ref: "x" },
          { type: "b", ref: "x" },
        ],
      }),
    );
    expect(planFlaws(twice, "stages")).toEqual([{ pointer: "/stages/1/ref", message: '"x" is that of /stages/0 already' }]);
  });

  it("has no ref twice that nobody gave: not that of another stage, before or behind it, nor of another type", () => {
    const refsOf = (stages: unknown[]) => tasksOf(CreateFlow.parse({ stages })).map(({ ref }) => ref);
    expect(refsOf(["fetch-2", "fetch", "fetch"])).toEqual(["fetch-2", "fetch", "fetch-3"]);
    expect(refsOf(["fetch", "fetch", { type: "store", ref: "fetch-2" }])).toEqual(["fetch", "fetch-3", "fetch-2"]);
    expect(refsOf([{ type: "store", ref: "fetch" }, "fetch"])).toEqual(["fetch", "fetch-2"]);
  });

  it("is refused where a stage's type cannot be its ref: no service would take it among its inputs", () => {
    const type = "t".repeat(64);
    const stages = tasksOf(CreateFlow.parse({ stages: [type, type, "__proto__", { type, ref: "other" }] }));
    expect(planFlaws(stages, "stages").map(({ pointer }) => pointer)).toEqual(["/stages/1", "/stages/2"]);
  });

  it("is refused where it goes in a circle, with the whole path, whatever else comes before or after", () => {
    expect(flawsOf({ z: [], a: ["c", "z"], b: ["a"], c: ["b"], d: ["c"], e: ["d", "a"] })).toEqual([
      { pointer: "/tasks/1/after", message: "a circle: a → b → c → a" },
    ]);
    expect(flawsOf({ a: ["b"], b: ["a"] })).toEqual([{ pointer: "/tasks/0/after", message: "a circle: a → b → a" }]);
    const long = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`t${i}`, [`t${(i + 9_999) % 10_000}`]]));
    const [flaw] = flawsOf(long);
    expect(flaw?.message).toMatch(/^a circle: t0 → t1 → .* → … 9982 more … → .* → t9999 → t0$/);
  });

  it("may be as deep, and as wide, as its bounds", () => {
    const deep = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`t${i}`, i === 0 ? [] : [`t${i - 1}`]]));
    expect(flawsOf(deep)).toEqual([]);
    const left = Array.from({ length: 251 }, (_, i) => `l${i}`);
    const dense = [
      ...left.map((ref) => ({ ref, type: "t", maxOutputBytes: 10 })),
      ...Array.from({ length: 200 }, (_, i) => ({ ref: `r${i}`, type: "t", after: left })),
    ];
    expect(planFlaws(CreateFlow.parse({ tasks: dense }).tasks ?? [], "tasks")).toEqual([
      { pointer: "/tasks", message: `all \`after\` together have 50200 refs; ${MAX_FLOW_EDGES} may be` },
    ]);
  });

  it("is refused for its number of refs first: each of millions might be another flaw of it", () => {
    const many = Array.from({ length: 6 }, (_, i) => ({ ref: `b${i}`, type: "t", after: Array(10_000).fill("a") }));
    const asked = CreateFlow.parse({ tasks: [{ ref: "a", type: "t" }, ...many] }).tasks ?? [];
    expect(planFlaws(asked, "tasks")).toEqual([
      { pointer: "/tasks", message: `all \`after\` together have 60000 refs; ${MAX_FLOW_EDGES} may be` },
    ]);
  });

  it("has its places told where several things are wrong", () => {
    expect(flawsOf({ a: ["a", "nobody"], b: ["a", "a"] })).toEqual([
      { pointer: "/tasks/0/after/0", message: '"a" cannot come after itself' },
      { pointer: "/tasks/0/after/1", message: 'there is no task "nobody" in this flow' },
      { pointer: "/tasks/1/after/1", message: '"a" stands here twice' },
    ]);
  });
});

describe("a circle", () => {
  it("is found where there is one, and in no other graph", () => {
    for (let round = 0; round < 300; round += 1) {
      const count = 2 + Math.floor(Math.random() * 12);
      const steps = Array.from({ length: count }, (_, i) => ({
        ref: `t${i}`,
        after: Array.from({ length: i }, (_unused, j) => `t${j}`).filter(() => Math.random() < 0.3),
      }));
      expect(circleIn(steps)).toBeUndefined();
      // One edge back, from somewhere to something that it leads to.
      const [from, to] = [Math.floor(Math.random() * count), Math.floor(Math.random() * count)].toSorted((a, b) => a - b);
      steps[from as number]?.after.push(`t${to}`);
      const circle = circleIn(steps);
      if (circle === undefined) continue;
      circle.forEach((ref, i) => {
        const before = circle.at(i - 1) as string;
        expect(steps.find((step) => step.ref === ref)?.after, circle.join()).toContain(before);
      });
      expect(new Set(circle).size).toBe(circle.length);
    }
  });
});
