import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, contractDecoder, flow, Wire } from "@unacked/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import piece from "../fixtures/flow-tasks/piece.ts";
import typed from "../fixtures/flow-tasks/typed.ts";
import { eventually } from "../support/eventually.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { fannedFlow } from "../support/system/fanned-flow.ts";
import { FLOW_TASKS_DIR, Flows, type Piece } from "../support/system/flows.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const ENV = { OBSERVERS_DIR: FLOW_TASKS_DIR, TASK_WORKERS: "10", STOP_TIMEOUT_MS: "1000" };
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe("flows on one service", { timeout: 120_000 }, () => {
  let system: System;
  let flows: Flows;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("worker", { env: ENV });
    flows = new Flows(system);
  });
  afterAll(() => system.close());

  test("a flow that splits and gathers passes each result on, and can be waited for", async () => {
    const { pieces, sum } = fannedFlow();
    const { id, tasks } = await flows.create(pieces);
    expect(tasks.total).toBe(20);
    expect(await flows.get(id, "30s")).toMatchObject({ status: "Completed", tasks: { completed: 20 } });
    expect((await flows.tasks(id, true))["last"]).toMatchObject({ status: "Completed", output: { sum } });
    expect([...flows.runs().values()].every((count) => count === 1)).toBe(true);
  });

  test("stages are typed by what they declare: one that cannot do without an input fails for good without it", async () => {
    const missing = join(flows.dir, randomUUID());
    const right = { ref: "right", params: { unless: missing }, onFailure: "continue" };
    const last = { ref: "sum", type: "typed", after: ["left", "right"] };
    const { id } = await flows.create([{ ref: "left", params: { value: 3 } }, right, last]);
    expect(await flows.get(id, "30s")).toMatchObject({ status: "Completed" });
    expect((await flows.tasks(id, true))["sum"]?.output).toEqual({ sum: 3, right: null });
    const other = await flows.create([{ ...right, ref: "left" }, { ref: "right" }, last]);
    expect(await flows.get(other.id, "30s")).toMatchObject({ status: "Failed", reason: "sum failed" });
    expect((await flows.tasks(other.id))["sum"]).toMatchObject({
      status: "Failed",
      lastError: { message: 'the input "left" is not there: that is Failed' },
    });
  });

  test.each(["worker", "worker-without-slots"])(
    "batches are given what each of their tasks comes after (%s)",
    async (name) => {
      const pool = name === "worker" ? "default" : "without";
      if (pool !== "default") await system.startService(name, { env: { ...ENV, POOL: pool, SLOTS: "0" } });
      const { id } = await flows.create([
        { ref: "a", pool, params: { value: 2 } },
        { ref: "b", pool, params: { unless: "nowhere" }, onFailure: "continue" },
        ...numbers(15).map((i) => ({ ref: `c${i}`, pool, type: "batched", after: i % 2 === 0 ? ["a"] : ["a", "b"] })),
        { ref: "d", pool, after: numbers(15).map((i) => `c${i}`) },
      ]);
      expect(await flows.get(id, "30s")).toMatchObject({ status: "Completed", tasks: { completed: 17, failed: 1 } });
      const tasks = await flows.tasks(id, true);
      expect(tasks["c0"]?.output).toEqual({ sum: 2, missing: [] });
      expect(tasks["c1"]?.output).toEqual({ sum: 2, missing: ["b"] });
      expect(tasks["d"]?.output).toEqual({ sum: 31 });
    },
  );

  test("the client creates it from definitions, waits for it, and gives what each has returned", async () => {
    const wire = new Wire({ url: system.url });
    const client = new Client({ wire, decoder: contractDecoder });
    const { dir } = flows;
    const plan = flow(
      [
        { ref: "left", task: piece, params: { dir, value: 2 } },
        { ref: "right", task: piece, params: { dir, value: 3 } },
        { ref: "sum", task: typed, params: {}, after: ["left", "right"] },
      ],
      { name: "by the client" },
    );
    const handle = await client.flows.create(plan);
    expect(await handle.result({ timeoutMs: 30_000 })).toEqual({
      left: { sum: 2 },
      right: { sum: 3 },
      sum: { sum: 5, right: 3 },
    });
    expect(await handle.rerun("sum")).toMatchObject({ status: "Running", run: 2 });
    expect(await handle.wait({ timeoutMs: 30_000 })).toMatchObject({ status: "Completed", run: 2 });
    const lone = flow([{ ref: "sum", task: "typed", params: {} }]);
    const refused = await client.flows.create(lone);
    await expect(refused.result({ timeoutMs: 30_000 })).rejects.toThrow(/^flow .* is Failed: sum failed$/);
    const listed: string[] = [];
    for await (const { id } of client.flows.list({ name: "by the client" })) listed.push(id);
    expect(listed).toEqual([handle.id]);
  });

  test.runIf(isTurnOf(0))("the command line creates it of a document, draws it, lists it and runs it again", async () => {
    const cli = (args: string[], input?: string) =>
      runCli(args, { env: { UNACKED_URL: system.url }, cwd: flows.dir, ...(input !== undefined && { input }) });
    const id = randomUUID();
    const params = { dir: flows.dir };
    const document = {
      name: "by the command line",
      tasks: [
        { ref: "a", type: "piece", params },
        { ref: "b", type: "piece", params: { ...params, unless: "nowhere" }, after: ["a"] },
        { ref: "c", type: "piece", params, after: ["a", "b"] },
      ],
    };
    const created = await cli(
      ["flow", "create", "-f", "-", "--id", id, "--wait", "--timeout", "30s"],
      JSON.stringify(document),
    );
    expect(created).toMatchObject({ code: 1, err: expect.stringContaining(`flow ${id} is Failed: b failed`) });
    const shown = await cli(["flow", "show", id]);
    expect(
      shown.out
        .trimEnd()
        .split("\n")
        .map((line) => line.replaceAll(/ {2,}/g, "  ").trimEnd()),
    ).toEqual([
      `flow ${id} "by the command line" is Failed: b failed (3 of 3 tasks over)`,
      `Who did what: unacked get audit --filter target=${id} (for admins)`,
      "",
      "TASK  STATUS  AFTER  WHY",
      "a  Completed  -  -",
      "└ b  Failed  a  NonRetryableError: broken",
      "  └ c  Cancelled  a, b  b failed",
    ]);
    expect((await cli(["get", "flows", "--filter", "name=by the command line", "-o", "name"])).out).toBe(`${id}\n`);
    expect((await cli(["flow", "rerun", id, "c"])).err).toContain('"c" comes after "b", which is Failed: begin there');
    expect((await cli(["flow", "rerun", id])).out).toContain("(1 of 3 tasks over, run 2)");
    expect(await flows.get(id, "30s")).toMatchObject({ status: "Failed", run: 2 });
    expect((await cli(["flow", "cancel", id])).err).toContain("The flow is over");
    const circle = await cli(
      ["flow", "create", "-f", "-"],
      "tasks: [{ ref: a, type: piece, after: [b] }, { ref: b, type: piece, after: [a] }]",
    );
    expect(circle.err).toContain("a circle: a → b → a");
  });

  const A_B_C = (more: Partial<Piece> = {}): Piece[] => [
    { ref: "a", ...more, params: { unless: "nowhere", ...(more.params as object) } },
    { ref: "b", after: ["a"] },
    { ref: "c", after: ["b"] },
    { ref: "apart" },
  ];
  const FAILURES: [string, Piece[], string, string | null, Record<string, string>][] = [
    ["fails for good", A_B_C(), "Failed", "a failed", { a: "Failed", b: "Cancelled", c: "Cancelled", apart: "Completed" }],
    [
      "fails for good, and the flow goes on without",
      A_B_C({ onFailure: "continue" }),
      "Completed",
      null,
      { a: "Failed", b: "Completed", c: "Completed", apart: "Completed" },
    ],
    [
      "fails twice, and then does not",
      A_B_C({ params: { failures: 2, unless: undefined } }),
      "Completed",
      null,
      { a: "Completed", b: "Completed", c: "Completed", apart: "Completed" },
    ],
    [
      "has used up its attempts",
      A_B_C({ params: { failures: 9, unless: undefined } }),
      "Failed",
      "a failed",
      { a: "Failed", b: "Cancelled", c: "Cancelled", apart: "Completed" },
    ],
    [
      "returns more than it said",
      A_B_C({ maxOutputBytes: 5, params: { unless: undefined } }),
      "Failed",
      "a failed",
      { a: "Failed", b: "Cancelled", c: "Cancelled", apart: "Completed" },
    ],
  ];
  test.each(FAILURES)("where its first task %s", async (_how, pieces, status, reason, statuses) => {
    const { id } = await flows.create(pieces);
    expect(await flows.get(id, "30s")).toMatchObject({ status, reason });
    expect(await flows.statuses(id)).toEqual(statuses);
  });

  test("a flow is run again from where it failed, with the results of what stays", async () => {
    const file = join(flows.dir, `${randomUUID()}.there`);
    const { id } = await flows.create([
      { ref: "fetch", params: { value: 5 } },
      { ref: "parse", after: ["fetch"], params: { unless: file } },
      { ref: "store", after: ["parse"] },
    ]);
    expect(await flows.get(id, "30s")).toMatchObject({ status: "Failed", reason: "parse failed", run: 1 });
    const before = await flows.tasks(id);
    writeFileSync(file, "");
    const again = await flows.call(`/${id}/rerun`);
    expect(again).toMatchObject({ status: 202, body: { status: "Running", run: 2 } });
    expect(await flows.get(id, "30s")).toMatchObject({ status: "Completed", tasks: { completed: 3 } });
    const after = await flows.tasks(id, true);
    expect(after["fetch"]?.taskId).toBe(before["fetch"]?.taskId);
    expect(after["store"]?.output).toEqual({ sum: 7 });
    expect(flows.runs().get(before["fetch"]?.taskId ?? "")).toBe(1);
    expect((await flows.call(`/${id}/rerun`)).body.code).toBe("flow-not-rerunnable");
    expect(await flows.call(`/${id}/rerun`, { from: "store" })).toMatchObject({ status: 202 });
    expect(await flows.get(id, "30s")).toMatchObject({ status: "Completed", run: 3 });
    expect(flows.runs().get(after["parse"]?.taskId ?? "")).toBe(1);
  });

  test("a flow is cancelled whole: what runs is told to end, what waits never runs", async () => {
    const { id } = await flows.create([
      { ref: "a", params: { ms: 600_000 } },
      { ref: "quick" },
      ...numbers(50).map((i) => ({ ref: `b${i}`, after: ["a"] })),
    ]);
    await eventually(async () => expect(await flows.statuses(id)).toMatchObject({ a: "Running", quick: "Completed" }));
    expect(await flows.call(`/${id}/cancel`)).toMatchObject({ status: 202, body: { cancelling: true } });
    expect(await flows.get(id, "30s")).toMatchObject({
      status: "Cancelled",
      tasks: { total: 52, completed: 1, failed: 0, cancelled: 51 },
    });
    const ran = flows.runs();
    const tasks = await flows.tasks(id);
    expect(numbers(50).filter((i) => ran.has(tasks[`b${i}`]?.taskId ?? ""))).toEqual([]);
  });
});
