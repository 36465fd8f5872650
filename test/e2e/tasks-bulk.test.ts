import type { AuditPage, TaskBulkCount } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../support/processes/unacked-cli.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

const NEVER = "2999-01-01T00:00:00Z";

let system: System;
let tasks: Tasks;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("worker", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "4" } });
  tasks = new Tasks(system);
});
afterAll(() => system.close());

const change = async (what: "cancel" | "retry", body: object): Promise<TaskBulkCount> => {
  const answer = await system.call<TaskBulkCount>("POST", `/api/v1/tasks/${what}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

test.runIf(isTurnOf(2))(
  "All of a type are cancelled in whichever state they are, those of another stay, and none runs after that",
  async () => {
    const other = await tasks.create({}, { type: "slow", params: {}, startAt: NEVER });
    const running = await Promise.all(Array.from({ length: 4 }, () => tasks.create({ ms: 600_000 })));
    for (const { id } of running) await tasks.untilStatus(id, "Running");
    const waiting = await tasks.createMany(1_500);
    const scheduled = await tasks.createMany(10, {}, { startAt: NEVER });
    const filter = { type: "work" };
    expect(await change("cancel", { filter, dryRun: true })).toEqual({ matched: 1_514, accepted: 1_514, more: false });
    expect((await tasks.get(scheduled[0] ?? "")).status).toBe("Scheduled");
    expect(await change("cancel", { filter })).toEqual({ matched: 1_514, accepted: 1_514, more: false });
    for (const { id } of running) expect((await tasks.get(id, "20s")).status).toBe("Cancelled");
    expect((await tasks.list("type=work&status=Cancelled&limit=1")).total).toBe(1_514);
    expect((await tasks.get(other.id)).status).toBe("Scheduled");
    const runs = tasks.runs();
    expect(waiting.filter((id) => runs.has(id))).toEqual([]);
    const { body: audit } = await system.call<AuditPage>("GET", "/api/v1/audit?action=task.cancel");
    expect(audit.items).toMatchObject([{ count: 1_514, details: { filter } }]);
    expect(await change("cancel", { ids: [other.id, running[0]?.id] })).toEqual({ matched: 1, accepted: 1, more: false });
  },
);

test.runIf(isTurnOf(2))(
  "What is Failed runs again, what is Cancelled where that is asked for, and none whose key another has",
  async () => {
    const failed = await Promise.all(Array.from({ length: 3 }, () => tasks.create({ isFinal: true })));
    for (const { id } of failed) await tasks.get(id, "20s");
    expect(await change("retry", { filter: { type: "work" } })).toMatchObject({ matched: 3, accepted: 3 });
    for (const { id } of failed) expect((await tasks.get(id, "20s")).sends).toBe(2);
    const later = { startAt: NEVER, key: "one", type: "slow", params: {} };
    const first = await tasks.create({}, later);
    await change("cancel", { ids: [first.id] });
    const second = await tasks.create({}, later);
    expect(await change("retry", { ids: [first.id, second.id] })).toEqual({ matched: 2, accepted: 1, more: false });
    expect((await tasks.get(first.id)).status).toBe("Cancelled");
    expect((await tasks.get(second.id, "20s")).status).toBe("Failed"); // due at once, and too slow
    const cancelled = { filter: { status: ["Cancelled"], type: "work" }, dryRun: true };
    expect(await change("retry", cancelled)).toMatchObject({ matched: 1_514 });
  },
);

test("Everything is meant only where that is said", async () => {
  for (const body of [{}, { filter: {} }, { all: true, filter: { type: "work" } }, { ids: [], all: true }])
    expect((await system.call("POST", "/api/v1/tasks/cancel", body)).status, JSON.stringify(body)).toBe(422);
  const refused = await system.call("POST", "/api/v1/tasks/cancel", { filter: { status: ["Failed"] } });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: "/filter/status/0" }] } });
});

const unacked = (...args: string[]) => runCli(args, { env: { UNACKED_URL: system.url }, cwd: tasks.dir });

test.runIf(isTurnOf(1))("The command line cancels and runs again", async () => {
  const ids = await tasks.createMany(3, {}, { startAt: NEVER });
  const filter = ["--filter", "type=work", "status=Scheduled"];
  expect((await unacked("cancel", ...filter, "--dry-run")).out).toBe("3 of 3 tasks: would be cancelled, or told to end\n");
  expect((await unacked("cancel", ...filter)).out).toBe("3 of 3 tasks: cancelled, or told to end\n");
  expect((await unacked("rerun", ...ids)).out).toBe("3 of 3 tasks: run again\n");
  for (const id of ids) expect((await tasks.get(id, "20s")).status).toBe("Completed");
  expect((await unacked("cancel")).err).toContain("Which tasks?");
});

test.runIf(isTurnOf(0))(
  "The command line runs a failed one again with one of its params changed, and says what is wrong with it",
  async () => {
    const { id } = await tasks.create({ isFinal: true, ms: 5 });
    await tasks.untilStatus(id, "Failed");
    const wrong = await unacked("rerun-with", id, "ms=long");
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("/params/ms")]);
    expect((await unacked("rerun-with", id, "isFinal=false")).out).toContain('"isFinal":false');
    expect(await tasks.get(id, "20s")).toMatchObject({ status: "Completed", params: { isFinal: false, ms: 5 } });
    expect((await unacked("rerun-with", id, "ms=6")).err).toContain("cannot be retried now");
    expect((await unacked("rerun-with", "nothing", "ms=6")).code).not.toBe(0);
  },
);
