import type { FlowTaskView, TaskStatus } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { drawingOf, NODE_WIDTH } from "../../../services/status-page/src/pages/flow/flow-layout.ts";
import { graphOf, MOST_DRAWN, sayCounts, stagesOf } from "../../../services/status-page/src/store/flow-graph.ts";

const task = (ref: string, after: string[] = [], status: TaskStatus = "Completed", type = "work"): FlowTaskView => ({
  ref,
  taskId: `id-${ref}`,
  type,
  pool: "default",
  after,
  onFailure: "fail",
  maxOutputBytes: 100,
  run: 1,
  status,
  waitsFor: 0,
  waitReason: null,
  reason: null,
  lastError: null,
  startedAt: null,
  endedAt: null,
});

describe("the picture of a flow", () => {
  test("has a node for each task and an arrow for each that it comes after", () => {
    const graph = graphOf([task("a"), task("b", ["a"]), task("c", ["a", "b"], "Running")]);
    expect(graph.isGrouped).toBe(false);
    expect(graph.nodes.map(({ title, tone }) => `${title} ${tone}`)).toEqual(["a done", "b done", "c runs"]);
    expect(graph.edges.map(({ from, to }) => `${from} ${to}`)).toEqual(["a b", "a c", "b c"]);
  });

  test("of many has those of one type and stage as one, which says how many are in which status", () => {
    const parts = Array.from({ length: MOST_DRAWN }, (_, i) => task(`p${i}`, ["a"], i === 0 ? "Failed" : "Ready"));
    const graph = graphOf([
      task("a"),
      ...parts,
      task(
        "z",
        parts.map(({ ref }) => ref),
        "Blocked",
      ),
    ]);
    expect(graph.isGrouped).toBe(true);
    expect(graph.nodes.map(({ title }) => title)).toEqual(["a", `work × ${MOST_DRAWN}`, "z"]);
    expect(graph.edges).toHaveLength(2);
    const [, many] = graph.nodes;
    expect(many && [many.tone, sayCounts(many)]).toEqual(["bad", `${MOST_DRAWN - 1} Ready, 1 Failed`]);
  });

  test("is not drawn where a browser would be at it for long: a long chain, or each after all before", () => {
    const chain = (length: number, after: number) =>
      Array.from({ length }, (_, i) =>
        task(
          `t${i}`,
          Array.from({ length: Math.min(after, i) }, (_each, back) => `t${i - back - 1}`),
        ),
      );
    const isDrawable = (tasks: FlowTaskView[]) => graphOf(tasks).isDrawable;
    expect([isDrawable(chain(400, 1)), isDrawable(chain(2_000, 1))]).toEqual([true, false]);
    expect([isDrawable(chain(80, 3)), isDrawable(chain(80, 20))]).toEqual([true, false]);
  });

  test("finds the stage of each by the longest way to it, in whichever order they are given", () => {
    const stages = stagesOf([task("d", ["a", "c"]), task("c", ["b"]), task("b", ["a"]), task("a")]);
    expect(Object.fromEntries(stages)).toEqual({ a: 0, b: 1, c: 2, d: 3 });
  });

  test("stands from left to right, and no node on another", () => {
    const { nodes, edges } = drawingOf(graphOf([task("a"), task("b", ["a"]), task("c", ["a"]), task("d", ["b", "c"])]));
    const at = new Map(nodes.map(({ node, x, y }) => [node.id, { x, y }]));
    const x = (id: string) => at.get(id)?.x ?? Number.NaN;
    expect([x("b") >= x("a") + NODE_WIDTH, x("d") >= x("c") + NODE_WIDTH]).toEqual([true, true]);
    expect(x("b")).toBe(x("c"));
    expect(at.get("b")?.y).not.toBe(at.get("c")?.y);
    expect(edges.every(({ path }) => /^M [-\d. ]+( C [-\d. ]+)+$/.test(path))).toBe(true);
  });

  test("has its nodes under any names that refs may have, also those of what each object has", () => {
    const { nodes, edges } = drawingOf(graphOf([task("a"), task("constructor", ["a"]), task("toString", ["constructor"])]));
    expect(nodes.map(({ node, x }) => [node.id, Number.isFinite(x)])).toEqual([
      ["a", true],
      ["constructor", true],
      ["toString", true],
    ]);
    expect(edges.map(({ path }) => /^M [-\d. ]+( C [-\d. ]+)+$/.test(path))).toEqual([true, true]);
  });
});
