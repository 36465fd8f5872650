import { readFileSync } from "node:fs";
import { MAX_BULK } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callHttp } from "../support/rest/rest-client.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** What a manager may have in k8s/base. */
const LIMIT_MIB = 512;
/** As Node.js sets it by itself in a container of that size: it does not know of one here. */
const HEAP = { NODE_OPTIONS: "--max-old-space-size=210" };
const MIB = 1_048_576;
const BATCH_MIB = 30;
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

let system: System;
beforeAll(async () => {
  system = await freshSystem();
  await system.startManager({ env: HEAP });
  await system.startService("service-1", { workers: 1 });
});
afterAll(() => system.close());

/** Observers that need no worker today. */
function batchOf(name: string): object {
  const params = { mark: "x".repeat((BATCH_MIB * MIB) / MAX_BULK) };
  const observers = Array.from({ length: MAX_BULK }, (_, i) => ({
    name: `${name}-${i}`,
    type: "stamp",
    startAt: TOMORROW,
    params,
  }));
  return { observers };
}

const peakMib = () => {
  const status = readFileSync(`/proc/${system.managers[0]?.pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024);
};

test(`Four batches of ${BATCH_MIB} MiB at once are all answered by a manager of the usual size, which lives on`, async () => {
  const bodies = ["a", "b", "c", "d"].map(batchOf);
  const answers = await Promise.all(bodies.map((body) => system.call("POST", "/api/v1/observers/batch", body)));
  const statuses = answers.map(({ status }) => status);
  const mib = peakMib();
  console.info(`four batches of ${BATCH_MIB} MiB at once: ${statuses.join(", ")}; the manager had ${mib} MiB at its peak`);
  expect(mib).toBeLessThan(LIMIT_MIB);
  for (const { status, headers } of answers)
    if (status !== 200) expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
  expect(statuses).toContain(200);
  await system.untilReady();
});

/** So many parts as there is room for in these bytes of JSON. */
const listOf = (part: string, bytes: number) =>
  `[${Array.from({ length: Math.floor(bytes / (part.length + 1)) }, () => part).join(",")}]`;
const tasksOf = (params: string, count = 1) =>
  `{"tasks":[${Array.from({ length: count }, (_, i) => `{"ref":"t${i}","type":"resize","params":${params}}`).join(",")}]}`;
const batchOfTasks = (params: string, count = 1) => tasksOf(params, count).replaceAll(/"ref":"t[0-9]+",/g, "");
const PAIR = "[12.34567,45.67891]";
const post = (path: string, body: string) =>
  callHttp(`${system.url}/api/v1${path}`, "POST", {
    body,
    headers: { "content-type": "application/json", prefer: "return=minimal" },
  });

test.each([
  ["136 tasks with coordinates", "/tasks/batch", () => batchOfTasks(listOf(PAIR, 237_000), 136), 413],
  ["not half as many of them", "/tasks/batch", () => batchOfTasks(listOf(PAIR, 237_000), 60), 200],
  ["a flow of 8,800 tasks with coordinates", "/flows", () => tasksOf(listOf(PAIR, 3_600), 8_800), 413],
  ["not half of such a flow", "/flows", () => tasksOf(listOf(PAIR, 3_600), 4_000), 201],
  ["one task with a list of objects", "/tasks/batch", () => batchOfTasks(listOf('{"x":1,"y":2}', 32_500_000)), 413],
  ["tasks without anything", "/tasks/batch", () => `{"tasks":${listOf("{}", 32_500_000)}}`, 413],
  ["one task with a list of lists", "/tasks/batch", () => batchOfTasks(listOf("[1,2]", 12_600_000)), 413],
  ["objects whose keys are numbers", "/tasks/batch", () => batchOfTasks(listOf('{"99":1}', 250_000), 26), 413],
  [
    "texts in which one character needs two bytes",
    "/tasks/batch",
    () => batchOfTasks(`"€${"x".repeat(240_000)}"`, 130),
    413,
  ],
  ["lists within each other", "/tasks/batch", () => "[".repeat(10_500_000), 422],
] as const)("A body of many values does not end a manager of the usual size: %s", async (_what, path, body, expected) => {
  const { status, body: answer } = await post(path, body());
  expect([status, answer.code]).toEqual([expected, { 413: "body-too-large", 422: "invalid-body" }[expected as number]]);
  if (status === 413) expect(answer.detail).toMatch(/MiB of JSON would take .* this manager has .*: send it in parts/);
  expect(system.managers[0]?.exit()).toBeNull();
});

test("Of bodies that take nearly all the room, one after the other, each is done with when it is answered", async () => {
  for (let round = 0; round < 3; round += 1) {
    const objects = (task: number) => Array.from({ length: 18_000 }, (_, i) => `{"a${task * 18_000 + i}":1}`).join(",");
    const tasks = Array.from({ length: 25 }, (_, task) => `{"type":"resize","params":[${objects(task)}]}`);
    expect((await post("/tasks/batch", `{"tasks":[${tasks.join(",")}]}`)).status).toBe(200);
  }
  expect(system.managers[0]?.exit()).toBeNull();
});

test.each(["tasks", "observers"])(
  "The answer to ten thousand %s of a hundred wrong fields each is bounded",
  async (list) => {
    const wrong = `{"type":"resize",${Array.from({ length: 100 }, (_, i) => `"field${i}":1`).join(",")}}`;
    const { status, body } = await post(
      `/${list}/batch`,
      `{"${list}":[${Array.from({ length: MAX_BULK }, () => wrong).join(",")}]}`,
    );
    expect(status).toBe(200);
    const counts = body.results.map((one: { problem: { errors: unknown[] } }) => one.problem.errors.length);
    expect([counts.length, counts[0], counts.at(-1)]).toEqual([MAX_BULK, 100, 1]);
    expect(JSON.stringify(body).length).toBeLessThan(8 * MIB);
    expect(system.managers[0]?.exit()).toBeNull();
  },
);
