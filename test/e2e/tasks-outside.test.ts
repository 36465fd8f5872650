import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { TakenTask, TakenTasks, TaskView } from "@unacked/contracts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { mostAtOnce, readSpans } from "../support/acts/spans.ts";
import { codeBlocksOf } from "../support/docs/code-blocks.ts";
import { examplesOf } from "../support/docs/doc-examples.ts";
import { eventually } from "../support/eventually.ts";
import { ROOT, type RunningProcess } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { Takers } from "../support/rest/takers.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

/* Managers and services as processes, killed for real; the crash table of docs/decisions/0041-workers-outside.md. */

const ENV = { OBSERVERS_DIR: join(ROOT, compiled("limited-tasks")), TASK_WORKERS: "10" };
const DIES = `--import=${pathToFileURL(`${ROOT}/test/fixtures/die-before-answer.mjs`).href}`;

let system: System;
let tasks: Tasks;
let takers: Takers;

const takersAt = (url: string) => new Takers((method, path, options) => callHttp(`${url}${path}`, method, options));
const urlOf = async (manager: RunningProcess) => String((await manager.waitForEvent("listening")).url);
const limit = (type: string, change: object) => system.call("PATCH", `/api/v1/task-types/${type}`, change);

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("one", { env: ENV });
  await limit("paint", { outside: true });
});
afterAll(() => system.close());
beforeEach(() => {
  tasks = new Tasks(system);
  takers = takersAt(system.url);
});

/** Takes two at a time, as a service does, until told that no more come. */
class SpanWorker {
  readonly #worked: Promise<void>;
  #isToEnd = false;
  done = 0;

  constructor(by: Takers, name: string) {
    this.#worked = this.#work(by, name);
  }

  end(): Promise<void> {
    this.#isToEnd = true;
    return this.#worked;
  }

  async #work(by: Takers, name: string): Promise<void> {
    while (!this.#isToEnd) {
      const some = await by.take({ types: ["span"], count: 2, wait: 200 });
      await Promise.all(some.map((task) => this.#span(by, name, task)));
    }
  }

  async #span(by: Takers, name: string, task: TakenTask): Promise<void> {
    const from = process.hrtime.bigint();
    await sleep((task.params as { ms: number }).ms);
    appendFileSync(join(tasks.dir, `span-${name}.log`), `${task.id} ${from} ${process.hrtime.bigint()} 0\n`);
    expect((await by.complete(task)).status).toBe(200);
    this.done += 1;
  }
}

/** Who of two gets how many is nobody's promise: on a machine that stands still for a moment one of them may miss all of a round. */
const MAX_ROUNDS = 20;

test.runIf(isTurnOf(1))(
  "Of a type that may run seven times no more do, by services and workers outside together, and each runs once",
  async () => {
    await limit("span", { maxRunning: 7 });
    const workers = ["a", "b", "c"].map((name) => new SpanWorker(takers, name));
    const outside = () => workers.reduce((sum, { done }) => sum + done, 0);
    const ids: string[] = [];
    do {
      ids.push(...(await tasks.createMany(150, { ms: 30 }, { type: "span" })));
      await tasks.untilAllOver();
    } while ((outside() === 0 || outside() === ids.length) && ids.length < MAX_ROUNDS * 150);
    await Promise.all(workers.map((worker) => worker.end()));
    const spans = readSpans(tasks.dir);
    expect(spans.map(({ taskId }) => taskId).toSorted()).toEqual(ids.toSorted());
    const atOnce = mostAtOnce(spans);
    expect(atOnce).toBeLessThanOrEqual(7);
    expect(atOnce, "a slow machine may not get to seven").toBeGreaterThan(1);
    process.stdout.write(`${ids.length} tasks, at most ${atOnce} at once: ${outside()} by workers outside\n`);
    expect(outside()).toBeGreaterThan(0);
    expect(outside()).toBeLessThan(ids.length);
    await limit("span", { maxRunning: null });
  },
);

test.runIf(isTurnOf(1))(
  "What only workers outside have waits for them beside services that work, and who has it is shown",
  async () => {
    const { id, waitsFor } = await takers.create({ params: { colour: "red" } });
    expect(waitsFor).toBe("taker");
    const span = await tasks.create({}, { type: "span" });
    await tasks.untilStatus(span.id, "Completed");
    expect(await tasks.get(id)).toMatchObject({ status: "Ready", waitsFor: "taker", sends: 0 });
    const taken = await takers.takeOne();
    const unacked = (...args: string[]) => runCli(args, { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
    expect((await unacked("describe", "task", id)).out).toContain(`Taken by:       anonymous until ${taken.leaseUntil}`);
    expect((await unacked("get", "task-types")).out).toMatch(/paint +.* 0 +outside/);
    await takers.complete(taken, { ok: true });
    const ended = (await callHttp(`${system.url}/metrics`, "GET")).text;
    expect(ended).toMatch(/unacked_manager_tasks_ended_total\{status="Completed"\} \d+/);
  },
);

test("The task of a worker that is dead is taken back by hand, and another has it", async () => {
  const { id } = await takers.create();
  const dead = await takers.takeOne({ leaseMs: 86_400_000 });
  const unacked = () => runCli(["take-back", id], { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
  expect((await unacked()).out).toContain(`task ${id} is Ready, taken back from anonymous`);
  const again = await unacked();
  expect([again.code === 0, again.err]).toEqual([false, expect.stringContaining("No worker outside has the task")]);
  const next = await takers.takeOne();
  expect((await takers.complete(dead)).body.code).toBe("task-not-held");
  expect((await takers.complete(next)).body).toMatchObject({ id, status: "Completed", interruptions: 1 });
});

test("The guide's example of a worker outside works as it stands", async () => {
  const example = examplesOf("docs/workers-outside.md").find(({ heading }) => heading === "Workers outside");
  const lines = (example?.script ?? "").replace("http://127.0.0.1:8080", system.url).split("\n");
  const from = (start: string): string => lines.filter((line) => line.startsWith(start)).join("\n");
  const asked = (path: string): string =>
    lines.find((line) => line.startsWith("curl") && line.includes(path)) ?? expect.fail(path);
  const run = async (script: string): Promise<unknown> =>
    JSON.parse((await promisify(execFile)("sh", ["-ec", `${from("API=")}\n${script}`])).stdout);
  await run(asked("/task-types/paint"));
  const { id } = (await run(asked("API/tasks -H"))) as TaskView;
  const { tasks: taken } = (await run(asked("/tasks/take"))) as TakenTasks;
  expect(taken).toMatchObject([{ id, params: { wall: "north" } }]);
  const filled = (path: string) =>
    asked(path)
      .replace("ID", id)
      .replace("SEND", taken[0]?.sendId ?? "");
  expect(await run(filled("/extend"))).toHaveProperty("leaseUntil");
  expect(await run(filled("/complete"))).toMatchObject({ status: "Completed", output: { litres: 2 } });
  expect(await run(filled("/fail"))).toMatchObject({ status: "Completed" }); // its end is told already
});

/** The worker of the guide, with a short lease. */
function startGuidesWorker(): { child: ChildProcess; ended: Promise<number | null>; said: () => string } {
  const page = "docs/workers-outside.md";
  const block = codeBlocksOf(page, readFileSync(join(ROOT, page), "utf8")).find(({ language }) => language === "python");
  const file = join(tasks.dir, "worker.py");
  writeFileSync(file, (block?.text ?? expect.fail(page)).replace("LEASE_MS = 60_000", "LEASE_MS = 1_500"));
  const child = spawn("python3", [file], { env: { ...process.env, UNACKED_URL: system.url, no_proxy: "*" } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)));
  return { child, ended: new Promise((resolve) => child.on("exit", resolve)), said: () => said };
}

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) console.warn("skipped: there is no python3 here");

test.skipIf(!hasPython)(
  "The guide's worker in Python works off tasks, keeps them, tells errors, and ends at SIGTERM with what it has",
  async () => {
    const { child, ended, said } = startGuidesWorker();
    const paint = async (params: object, more: object = {}) => (await takers.create({ params, ...more })).id;
    const long = await paint({ wall: "north", seconds: 4 });
    const wrong = await paint({ seconds: 0 }, { maxAttempts: 1 });
    expect(await tasks.untilStatus(long, "Completed")).toMatchObject({
      output: { wall: "north", litres: 2 },
      interruptions: 0,
    });
    const { lastError } = await tasks.untilStatus(wrong, "Failed");
    expect(lastError).toMatchObject({ name: "KeyError", message: "'wall'", stack: expect.stringContaining("in paint") });
    const unwanted = await paint({ wall: "south", seconds: 600 });
    await tasks.untilStatus(unwanted, "Running");
    await system.call("DELETE", `/api/v1/tasks/${unwanted}`);
    await tasks.untilStatus(unwanted, "Cancelled");
    const last = await paint({ wall: "west", seconds: 4 });
    await tasks.untilStatus(last, "Running");
    const next = await paint({ wall: "east", seconds: 0 });
    child.kill("SIGTERM");
    expect(await ended, said()).toBe(0);
    expect(await tasks.get(last)).toMatchObject({ status: "Completed", interruptions: 0 });
    expect(await tasks.get(next)).toMatchObject({ status: "Ready", sends: 0 });
    await system.call("DELETE", `/api/v1/tasks/${next}`);
  },
);

test.skipIf(!hasPython)("What the guide's worker is given after SIGTERM it gives back", async () => {
  const { child, ended, said } = startGuidesWorker();
  const { id: first } = await takers.create({ params: { wall: "north", seconds: 0 } });
  await tasks.untilStatus(first, "Completed");
  child.kill("SIGTERM");
  const { id: late } = await takers.create({ params: { wall: "south", seconds: 600 } });
  expect(await ended, said()).toBe(0);
  expect(await tasks.get(late)).toMatchObject({ status: "Ready", failures: 0, interruptions: 0 });
  await system.call("DELETE", `/api/v1/tasks/${late}`);
});

test.runIf(isTurnOf(0))(
  "The manager dies before it answers a take: nobody has the task until the lease is over, and then somebody does",
  async () => {
    const doomed = await system.startManager({
      speakTo: false,
      env: { NODE_OPTIONS: DIES, DIE_BEFORE_ANSWER: "/tasks/take" },
    });
    const { id } = await takers.create();
    const asked = takersAt(await urlOf(doomed)).take({ leaseMs: 8_000 });
    await expect(asked).rejects.toThrow();
    expect(await doomed.exited).toEqual({ code: null, signal: "SIGKILL" });
    const { taken } = await tasks.get(id);
    expect(await takers.take()).toEqual([]);
    const next = await takers.takeOne({ wait: 25_000 });
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(taken?.until ?? ""));
    expect(next.id).toBe(id);
    const { text } = await callHttp(`${system.url}/metrics`, "GET");
    expect(text).toMatch(/^unacked_manager_task_leases_over_total [1-9]/m);
    expect((await takers.complete(next)).body).toMatchObject({ status: "Completed", interruptions: 1 });
  },
);

test.each(
  inTurn([
    ["complete", "Completed"],
    ["fail", "Scheduled"],
    ["release", "Ready"],
  ] as const),
)(
  "The manager dies before it answers a %s: the same said to another is answered with what became of it",
  async (what, status) => {
    const doomed = await system.startManager({
      speakTo: false,
      env: { NODE_OPTIONS: DIES, DIE_BEFORE_ANSWER: `/${what}` },
    });
    const { id } = await takers.create();
    const taken = await takers.takeOne();
    await expect(takersAt(await urlOf(doomed))[what](taken)).rejects.toThrow();
    const again = await takers[what](taken);
    expect(again).toMatchObject({ status: 200, body: { id, status, failures: what === "fail" ? 1 : 0, interruptions: 0 } });
    await system.call("DELETE", `/api/v1/tasks/${id}`);
  },
);

test.runIf(isTurnOf(2))(
  "A manager is frozen in the middle: another one ends the lease, and what the first one's taker says late is refused",
  async () => {
    const other = await system.startManager({ speakTo: false });
    const { id } = await takers.create();
    const first = await takersAt(await urlOf(other)).takeOne({ leaseMs: 2_000 });
    await other.kill("SIGSTOP");
    const late = takersAt(await urlOf(other)).complete(first, "late");
    const second = await takers.takeOne({ wait: 10_000 });
    expect(second.id).toBe(id);
    await other.kill("SIGCONT");
    expect((await late).body).toMatchObject({ code: "task-not-held" });
    expect((await takers.complete(second, "second")).body.output).toBe("second");
    await other.kill("SIGKILL");
  },
);

test.runIf(isTurnOf(2))(
  "All managers are killed while somebody has a task: its lease goes on without them, and its end is told to the next one",
  async () => {
    const { id } = await takers.create();
    const taken = await takers.takeOne({ leaseMs: 60_000 });
    const waits = takers.take({ wait: 10_000 }).catch(() => "cut off");
    await system.managers[0]?.kill("SIGKILL");
    expect(await waits).toBe("cut off");
    await system.startManager();
    takers = takersAt(system.url);
    expect((await takers.complete(taken, 7)).body).toMatchObject({ id, status: "Completed", output: 7, interruptions: 0 });
    await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).total).toBe(0));
  },
);
