import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { diesAt } from "../support/processes/crash-point.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { HANDLER_TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let tasks: Tasks;
const ENV = { OBSERVERS_DIR: HANDLER_TASKS_DIR, TASK_WORKERS: "4" };

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("worker", { env: ENV });
  tasks = new Tasks(system);
});

afterAll(() => system.close());

const later = (params: object) => tasks.create({}, { type: "later", params: { dir: tasks.dir, ...params } });
const soon = (ms: number) => new Date(Date.now() + ms).toISOString();

test.runIf(isTurnOf(2))(
  "A handler puts its task off: it waits, says why and until when, and goes on then with all its attempts",
  async () => {
    const at = soon(8_000);
    const { id } = await later({ at, reason: "the shop is closed" });
    const waiting = await tasks.untilStatus(id, "Scheduled");
    expect(waiting).toMatchObject({
      waitsFor: "postponed",
      postponedFor: "the shop is closed",
      postpones: 1,
      dueAt: at,
      failures: 0,
      interruptions: 0,
      lastError: null,
    });
    const { out } = await runCli(["describe", "task", id], { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
    expect(out).toContain("postponed: the shop is closed");
    const done = await tasks.get(id, "20s");
    // It may be tried once, so that a failure would have been its end.
    expect(done).toMatchObject({ status: "Completed", output: { runs: 2, attempt: 1 }, postpones: 1, postponedFor: null });
    expect(done).toMatchObject({ failures: 0, interruptions: 0, sends: 2, completedBy: "handler" });
    expect(Date.parse(done.startedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(at) - 20);
  },
);

test("What a handler does after it has put its task off is ignored", async () => {
  const { id } = await later({ inMs: 300, isDeaf: true });
  expect(await tasks.get(id, "20s")).toMatchObject({ status: "Completed", failures: 0, lastError: null, postpones: 1 });
});

test("What is past is at once", async () => {
  const { id } = await later({ at: "2020-01-01T00:00:00Z" });
  expect(await tasks.get(id, "20s")).toMatchObject({ status: "Completed", output: { runs: 2 } });
});

test.each([
  ["tomorrow", 'postpone: it takes ms from now, or a valid Date, and was given "tomorrow"'],
  [Date.parse("2099-01-01"), "is more than a year; a time is given as a Date"],
])("A bad value is an error in the handler: %s", async (inMs, message) => {
  const { id } = await later({ inMs });
  const failed = await tasks.get(id, "20s");
  expect(failed).toMatchObject({ status: "Failed", failures: 1, lastError: { name: "SdkError" } });
  expect(failed.lastError?.message).toContain(message);
  expect(failed.lastError?.stack).toContain("later.js");
});

test("What is put off can be cancelled, and run at once", async () => {
  const one = await later({ inMs: 3_600_000 });
  await tasks.untilStatus(one.id, "Scheduled");
  const cancelled = await system.call("DELETE", `/api/v1/tasks/${one.id}`);
  expect(cancelled).toMatchObject({ status: 202, body: { status: "Cancelled", waitsFor: null } });
  const other = await later({ inMs: 3_600_000 });
  await tasks.untilStatus(other.id, "Scheduled");
  await system.call("POST", `/api/v1/tasks/${other.id}/retry`);
  expect(await tasks.get(other.id, "20s")).toMatchObject({ status: "Completed", output: { runs: 2 } });
});

test("What is replaced while it is put off waits for its new time, and no longer for that", async () => {
  const { id } = await tasks.create(
    {},
    { type: "later", key: "k", params: { dir: tasks.dir, inMs: 3_600_000, reason: "r" } },
  );
  expect(await tasks.untilStatus(id, "Scheduled")).toMatchObject({ waitsFor: "postponed", postponedFor: "r" });
  const request = { type: "later", key: "k", onConflict: "replace", startAt: soon(7_200_000), params: { dir: tasks.dir } };
  const replaced = await tasks.createAny(request);
  expect(replaced).toMatchObject({ status: 200, body: { id, waitsFor: "due-time", postponedFor: null, postpones: 1 } });
  await system.call("DELETE", `/api/v1/tasks/${id}`);
});

test.runIf(isTurnOf(1))(
  "A service that dies before it acks what was put off: the run that its message begins elsewhere changes nothing",
  async () => {
    const other = await freshSystem();
    try {
      const theirs = new Tasks(other);
      await other.startManager();
      const doomed = await other.startService("worker-1", { env: { ...ENV, ...diesAt("ack unacked.tasks", 0) } });
      const params = { dir: theirs.dir, inMs: 3_600_000, reason: "later" };
      const { id } = await theirs.create({}, { type: "later", params });
      expect(await doomed.exited).toMatchObject({ signal: "SIGKILL" });
      await other.startService("worker-2", { env: ENV });
      const runs = () =>
        readFileSync(join(theirs.dir, `${id}.runs`), "utf8")
          .trim()
          .split("\n").length;
      await eventually(() => expect(runs()).toBe(2));
      await eventually(async () => expect((await other.management.queue("unacked.tasks.default")).total).toBe(0));
      expect(await theirs.get(id)).toMatchObject({ status: "Scheduled", postponedFor: "later", postpones: 1 });
      expect(await other.call("POST", `/api/v1/tasks/${id}/retry`)).toMatchObject({ status: 202 });
      const done = await theirs.get(id, "30s");
      expect(done).toMatchObject({ status: "Completed", output: { runs: 3 }, postpones: 1, failures: 0, interruptions: 0 });
    } finally {
      await other.close();
    }
  },
);

test("Whoever was told to cancel has not put off anything", async () => {
  const { id } = await later({ inMs: 1, ms: 600_000 });
  await tasks.untilStatus(id, "Running");
  await system.call("DELETE", `/api/v1/tasks/${id}`);
  expect(await tasks.get(id, "20s")).toMatchObject({ status: "Cancelled", postpones: 0 });
});

const secondWay = (params: object, more: object = {}) =>
  tasks.create({}, { type: "second-way", params: { dir: tasks.dir, ...params }, ...more });
const waysOf = (id: string) =>
  readFileSync(join(tasks.dir, `${id}.ways`), "utf8")
    .trim()
    .split("\n");

test("What nobody caught, and is final, is not tried again", async () => {
  const { id } = await tasks.create({}, { type: "careless", params: { dir: tasks.dir } });
  expect(await tasks.get(id, "20s")).toMatchObject({
    status: "Failed",
    failures: 1,
    lastError: { name: "NonRetryableError", message: "it will never do" },
  });
});

test("From its attempt on the emergency handler runs instead, and what it completes says so", async () => {
  const { id } = await secondWay({});
  expect(await tasks.get(id, "20s")).toMatchObject({
    status: "Completed",
    completedBy: "emergency",
    output: { way: "second", attempt: 3 },
    failures: 2,
  });
  expect(waysOf(id)).toEqual(["first 1", "first 2", "second 3"]);
  const { out } = await runCli(["describe", "task", id], { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
  expect(out).toContain("Completed, by its emergency handler");
});

test("An emergency handler that fails is tried again until the attempts are used up", async () => {
  const { id } = await secondWay({ failures: 1 });
  expect(await tasks.get(id, "20s")).toMatchObject({ status: "Completed", completedBy: "emergency", failures: 3 });
  const { id: lost } = await secondWay({ failures: 9 });
  expect(await tasks.get(lost, "20s")).toMatchObject({
    status: "Failed",
    completedBy: null,
    failures: 5,
    lastError: { message: "the second way fails, attempt 5" },
  });
  expect(waysOf(lost)).toEqual(["first 1", "first 2", "second 3", "second 4", "second 5"]);
});

test.runIf(isTurnOf(0))(
  "An interruption is no attempt: the emergency comes no earlier for it",
  async () => {
    const { id } = await secondWay({ kills: true });
    expect(await tasks.get(id, "40s")).toMatchObject({ status: "Completed", completedBy: "emergency", failures: 2 });
    expect(waysOf(id)).toEqual(["first 1", "first 1", "first 2", "second 3"]);
  },
  240_000,
);
