import type { AuditPage, TaskBulkCount } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";
import { HeldStep, type Where } from "../support/tasks/held-step.ts";

/** The crash table of cancel and retry of many: docs/decisions/0043-failed-tasks.md. Nobody works here, so that all wait. */

const COUNT = 1_200;
/** What one transaction of it takes. */
const AT_ONCE = 500;

let system: System;
let tasks: Tasks;
beforeEach(async () => {
  system = await freshSystem();
  tasks = new Tasks(system);
  await system.startManager();
  await tasks.createMany(COUNT);
});
afterEach(() => system.close());

const change = async (what: "cancel" | "retry", body: object) =>
  (await system.call<TaskBulkCount>("POST", `/api/v1/tasks/${what}`, body)).body;

const CANCEL = { filter: { type: "work", status: ["Ready"] } };
const RETRY = { filter: { type: "work", status: ["Cancelled"] } };

const totals = async () => {
  const of = async (status: string) => (await tasks.list(`status=${status}&limit=1`)).total;
  return { ready: await of("Ready"), cancelled: await of("Cancelled") };
};

const recorded = async (action: string) => {
  const { body } = await system.call<AuditPage>("GET", `/api/v1/audit?action=${action}`);
  return body.items.map(({ count }) => count).toSorted((a, b) => a - b);
};

/** The manager is killed in the second of its transactions, and another one is started. */
async function diesInTheSecond(what: "cancel" | "retry", body: object, where: Where): Promise<void> {
  const step = await HeldStep.at(system.env.DATABASE_URL as string, { ...where, isOfStatement: true });
  const answer = change(what, body).catch((error: unknown) => error);
  await Promise.race([step.untilReached(), answer.then((early) => expect.fail(`it is over: ${JSON.stringify(early)}`))]);
  await system.managers.at(-1)?.kill("SIGKILL");
  expect(await answer).toBeInstanceOf(Error);
  await step.cutOff();
  await system.startManager();
}

test.runIf(isTurnOf(1))(
  "A manager that dies while it cancels many leaves what was accepted, with its entry; the same call does the rest",
  async () => {
    const where = { before: "DELETE", when: `(SELECT count(*) FROM ended_tasks) >= ${AT_ONCE}` } as const;
    await diesInTheSecond("cancel", CANCEL, where);
    expect(await totals()).toEqual({ ready: COUNT - AT_ONCE, cancelled: AT_ONCE });
    expect(await recorded("task.cancel")).toEqual([AT_ONCE]);
    expect(await change("cancel", CANCEL)).toEqual({ matched: COUNT - AT_ONCE, accepted: COUNT - AT_ONCE, more: false });
    expect(await change("cancel", CANCEL)).toEqual({ matched: 0, accepted: 0, more: false });
    expect(await totals()).toEqual({ ready: 0, cancelled: COUNT });
    expect(await recorded("task.cancel")).toEqual([AT_ONCE, COUNT - AT_ONCE]);
  },
);

test.runIf(isTurnOf(2))(
  "A manager that dies while it retries many leaves what was accepted, with its entry; the same call does the rest",
  async () => {
    expect(await change("cancel", CANCEL)).toMatchObject({ accepted: COUNT });
    const where = { before: "INSERT", when: `(SELECT count(*) FROM tasks) >= ${AT_ONCE}` } as const;
    await diesInTheSecond("retry", RETRY, where);
    expect(await totals()).toEqual({ ready: AT_ONCE, cancelled: COUNT - AT_ONCE });
    expect(await recorded("task.retry")).toEqual([AT_ONCE]);
    expect(await change("retry", RETRY)).toEqual({ matched: COUNT - AT_ONCE, accepted: COUNT - AT_ONCE, more: false });
    expect(await totals()).toEqual({ ready: COUNT, cancelled: 0 });
    expect(await recorded("task.retry")).toEqual([AT_ONCE, COUNT - AT_ONCE]);
  },
);
