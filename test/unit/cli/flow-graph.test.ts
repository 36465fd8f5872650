import type { FlowTaskView } from "@unacked/contracts";
import { expect, it } from "vitest";
import { depthsOf, flowGraph } from "../../../cli/src/output/flow-graph.ts";
import { Table } from "../../../cli/src/output/table.ts";

const task = (ref: string, after: string[], more: Partial<FlowTaskView> = {}): FlowTaskView => ({
  ref,
  taskId: `id-${ref}`,
  type: "t",
  pool: "default",
  after,
  onFailure: "fail",
  maxOutputBytes: 65_536,
  run: 1,
  status: "Blocked",
  waitsFor: after.length,
  waitReason: null,
  reason: null,
  lastError: null,
  startedAt: null,
  endedAt: null,
  ...more,
});

it("A flow is drawn by how much stands before each task, in whatever order they were given", () => {
  const tasks = [
    task("store", ["parse", "fetch"]),
    task("parse", ["fetch", "rates"], { waitsFor: 1 }),
    task("fetch", [], { status: "Running" }),
    task("clean", [], { status: "Ready", waitReason: "service" }),
    task("rates", [], { status: "Failed", lastError: { name: "Error", message: "answered 404" } }),
    task("tell", ["store"], { status: "Cancelled", reason: "rates failed", waitsFor: 0 }),
  ];
  const { listing, rows } = flowGraph(tasks);
  expect(new Table(listing.columns).lines(rows, 0).map((line) => line.replaceAll(/(?<=\S) {2,}/g, "  "))).toEqual([
    "TASK  STATUS  AFTER  WHY",
    "fetch  Running  -  -",
    "clean  Ready  -  waits for: service",
    "rates  Failed  -  Error: answered 404",
    "└ parse  Blocked  fetch, rates  waits for 1 of 2",
    "  └ store  Blocked  parse, fetch  waits for 2 of 2",
    "    └ tell  Cancelled  store  rates failed",
  ]);
});

it("One that is ten thousand deep is drawn, too", () => {
  const tasks = Array.from({ length: 10_000 }, (_, i) => task(`t${i}`, i === 0 ? [] : [`t${i - 1}`]));
  expect(depthsOf(tasks).get("t9999")).toBe(9_999);
  expect(flowGraph(tasks).rows).toHaveLength(10_000);
});
