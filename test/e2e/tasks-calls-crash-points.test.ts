import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newTaskId, type TaskBatchResults } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type CrashPoint, diesAt } from "../support/processes/crash-point.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { HANDLER_TASKS_DIR, Tasks } from "../support/system/tasks.ts";
import { HeldStep } from "../support/tasks/held-step.ts";

/* The crash table of docs/decisions/0034-sent-as-created.md, of full calls of batches that are Sent as they are created. */

const KILLED = { code: null, signal: "SIGKILL" };
const ENV = { OBSERVERS_DIR: HANDLER_TASKS_DIR, TASK_WORKERS: "3" };
const SIZE = 50;
/** A param of theirs, by which their messages are known. */
const MARK = 20_240_202;

let system: System;
let tasks: Tasks;
beforeEach(async () => {
  system = await freshSystem();
  tasks = new Tasks(system);
});
afterEach(() => system.close());

const marked = () =>
  Array.from({ length: 2 * SIZE }, () => ({
    id: newTaskId(),
    type: "gather",
    params: { dir: tasks.dir, even: MARK },
  }));

async function ask(requests: object[]): Promise<number[]> {
  const { body } = await system.call<TaskBatchResults>("POST", "/api/v1/tasks/batch", { tasks: requests });
  return body.results.map(({ status }) => status);
}

/** The manager knows that there are workers, and nothing waits. */
async function untilSentAtOnce(): Promise<void> {
  await eventually(async () => {
    const ids = await tasks.createMixed(
      Array.from({ length: SIZE }, () => ({})),
      { type: "gather" },
    );
    const statuses = await Promise.all(ids.map(async (id) => (await tasks.get(id)).status));
    await tasks.untilAllOver();
    expect(statuses).not.toContain("Ready");
    expect(calls().some((call) => call.length === SIZE && call.every((id) => ids.includes(id)))).toBe(true);
  });
}

/** The ids of each call that was made. */
const calls = (): string[][] =>
  readdirSync(tasks.dir)
    .filter((name) => name.endsWith(".calls"))
    .flatMap((file) => readFileSync(join(tasks.dir, file), "utf8").trim().split("\n"))
    .map((line) => (JSON.parse(line) as { ids?: string[] }).ids ?? [])
    .filter((ids) => ids.length > 0);

/** Each is Completed, has been in one call, and was Sent so many times. */
async function expectEnds(ids: string[], sends: number): Promise<void> {
  await tasks.untilAllOver();
  for (const id of ids)
    expect(await tasks.get(id)).toMatchObject({ status: "Completed", sends, failures: 0, interruptions: 0 });
  const made = calls().filter((call) => call.some((id) => ids.includes(id)));
  expect(made.flat().toSorted()).toEqual(ids.toSorted());
  expect((await tasks.list("type=gather&limit=1")).total).toBe(new Set(calls().flat()).size);
  await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).total).toBe(0));
}

const points: [string, CrashPoint, number, { sends: number }][] = [
  ["commits them and dies before it publishes the first", "publish unacked.tasks", 0, { sends: 2 }],
  ["has published them and dies before the first confirm", "confirm unacked.tasks", 0, { sends: 1 }],
];
test.each(points.filter((_, place) => isTurnOf(place)))(
  "manager: it %s; each ends once, and was in one call",
  async (_, point, after, { sends }) => {
    const doomed = await system.startManager({ env: diesAt(point, after, String(MARK)) });
    await system.startService("worker-1", { env: ENV });
    await untilSentAtOnce();
    const requests = marked();
    await ask(requests).catch(() => undefined); // the answer may be gone with the manager
    expect(await doomed.exited).toEqual(KILLED);
    await system.startManager();
    expect(new Set(await ask(requests))).toEqual(new Set([200]));
    await expectEnds(
      requests.map(({ id }) => id),
      sends,
    );
  },
);

test.runIf(isTurnOf(1))(
  "manager: it dies between two of them; the first is not sent again, the second is, and each was in one call",
  async () => {
    const doomed = await system.startManager({ env: diesAt("publish unacked.tasks", 1, String(MARK)) });
    await system.startService("worker-1", { env: ENV });
    await untilSentAtOnce();
    const requests = marked();
    await ask(requests).catch(() => undefined);
    expect(await doomed.exited).toEqual(KILLED);
    await system.startManager();
    expect(new Set(await ask(requests))).toEqual(new Set([200]));
    await tasks.untilAllOver();
    const ended = await Promise.all(requests.map(({ id }) => tasks.get(id)));
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["Completed"]));
    // What was written to the socket as it died may have got out, or not.
    const again = ended.filter(({ sends }) => sends > 1).length;
    expect([SIZE, 2 * SIZE]).toContain(again);
    expect(
      calls()
        .flat()
        .filter((id) => requests.some((request) => request.id === id)),
    ).toHaveLength(2 * SIZE);
  },
);

test.runIf(isTurnOf(2))(
  "manager: it has inserted them and dies before the commit; asked again they are created, and each was in one call",
  async () => {
    const doomed = await system.startManager();
    await system.startService("worker-1", { env: ENV });
    await untilSentAtOnce();
    const when = `NEW.status = 'Sent' AND NEW.params::text LIKE '%${MARK}%'`;
    const step = await HeldStep.at(system.env.DATABASE_URL as string, { before: "INSERT", when });
    const reached = step.untilReached().then(() => "reached" as const);
    const next = () => {
      const requests = marked();
      return [requests, ask(requests).catch(() => undefined)] as const;
    };
    let [requests, asked] = next();
    // Where an insert has just been slow, the next ones wait to be claimed.
    while ((await Promise.race([reached, asked])) !== "reached") {
      await tasks.untilAllOver();
      [requests, asked] = next();
    }
    await doomed.kill("SIGKILL");
    await asked;
    await step.cutOff();
    await system.startManager();
    expect(new Set(await ask(requests))).toEqual(new Set([201]));
    await expectEnds(
      requests.map(({ id }) => id),
      1,
    );
  },
);
