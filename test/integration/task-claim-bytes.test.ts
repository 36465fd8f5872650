import { MAX_AUDITED_TARGETS, type StartTask } from "@unacked/contracts";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { PostgresTaskTakeStore } from "../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take-store.ts";
import type { Bundle } from "../../services/observer-manager/src/domain/tasks/bundles.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { TaskDispatcher } from "../../services/observer-manager/src/operations/tasks/dispatch/task-dispatcher.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, SOMEBODY, useBooks } from "../support/servers/books.ts";
import { changeLimits } from "../support/system/limits.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* A claim of thousands with long params ended the manager, and the next one, and so on. */

const books = useBooks("tasks, task_types, task_services, audit");
const COUNT = 100; // 24 MB
const CHARS = 240_000;

beforeEach(async () => {
  await putReady(books.dataSource, COUNT);
  await books.dataSource.query("UPDATE tasks SET params = jsonb_build_object('text', repeat('x', $1))", [CHARS]);
});

const QUIET = { promoted: () => undefined, isWaitedFor: () => false, log: keptLog() };

const charsOf = (tasks: readonly { params: unknown }[]): number[] =>
  tasks.map(({ params }) => (params as { text: string }).text.length);

/** Until there are no more; each within 16 MiB, and all of them once, in their order. */
async function allInParts(next: () => Promise<readonly { id: string; params: unknown }[]>): Promise<void> {
  const inOrder = await books.dataSource.query<{ id: string }[]>("SELECT id FROM tasks ORDER BY due_at");
  const parts: string[][] = [];
  for (let part = await next(); part.length > 0; part = await next()) {
    expect(part.length).toBeLessThan(75);
    expect(new Set(charsOf(part))).toEqual(new Set([CHARS]));
    parts.push(part.map(({ id }) => id));
  }
  expect(parts.length).toBe(2);
  expect(parts.flat()).toEqual(inOrder.map(({ id }) => id));
}

const toPart = (tasks: readonly { task: StartTask }[]) =>
  tasks.map(({ task: { taskId: id, params } }) => ({ id: id as string, params }));

/** What is given back is no start: the rate has room for what is left, though a claim has counted all of it before. */
const limitRate = () => changeLimits(books.dataSource, "work", { ratePerSecond: COUNT });
/** Claims of a type with a rate are 5 ms apart. */
const untilApart = () => new Promise((resolve) => setTimeout(resolve, 10));
const countedStarts = async (): Promise<number> => {
  const [row] = await books.dataSource.query(
    "SELECT (SELECT sum(count)::int FROM unnest(claimed) c (count)) AS count FROM task_types WHERE type = 'work'",
  );
  return row.count;
};

test.each([
  ["where nobody is limited", false],
  ["behind a limit", true],
])("A claim %s reads 16 MiB of params, and the next one the others", async (_, isLimited) => {
  const store = new PostgresTaskQueueStore(books.dataSource);
  await putTaskService(books.dataSource, { workers: COUNT });
  if (isLimited) await limitRate();
  await allInParts(async () => {
    const asked = { window: COUNT, workers: COUNT, types: ["work"] };
    await untilApart();
    return toPart((await store.claim("default", asked)).tasks);
  });
  // What was beyond had not been sent.
  expect(await books.dataSource.query("SELECT DISTINCT sends FROM tasks")).toEqual([{ sends: 1 }]);
});

test("Those who go to a call with others are no more than 16 MiB, and no others are counted for the rate", async () => {
  const store = new PostgresTaskQueueStore(books.dataSource);
  await limitRate();
  await putTaskService(books.dataSource, { workers: 1, batch: COUNT });
  const asked = { window: 1, workers: 1, types: ["work"], batches: new Map([["work", COUNT]]) };
  const { tasks } = await store.claim("default", asked);
  const [first] = tasks;
  expect(tasks).toHaveLength(1);
  const companions = await store.claimCompanions("default", first?.task as StartTask, COUNT - 1);
  expect(companions.length).toBeGreaterThan(60);
  expect(companions.length).toBeLessThan(75);
  const [ready] = await books.dataSource.query("SELECT count(*)::int AS count FROM tasks WHERE status = 'Ready'");
  expect(ready.count).toBe(COUNT - 1 - companions.length);
  expect(await countedStarts()).toBe(1 + companions.length);
});

test("Who finds no place in the message of his lane was not sent: he counts for no rate, and goes in a lane the next time", async () => {
  await changeLimits(books.dataSource, "work", { maxRunning: 1, ratePerSecond: COUNT });
  await putTaskService(books.dataSource, { meanMs: 2 });
  const sent: number[] = [];
  const sender = {
    isReady: true,
    ready: () => Promise.resolve(),
    async send({ tasks }: Bundle) {
      sent.push(tasks.length);
      return "sent" as const;
    },
    cancel: () => Promise.resolve(),
  };
  const store = new PostgresTaskQueueStore(books.dataSource);
  const dispatcher = new TaskDispatcher({ store, sender, ...QUIET });
  onTestFinished(() => dispatcher.stop());
  dispatcher.start();
  await eventually(() => expect(sent).toEqual([8])); // of 2 MiB
  expect(await countedStarts()).toBe(8);
  expect(await books.dataSource.query("SELECT DISTINCT sends FROM tasks WHERE status = 'Ready'")).toEqual([{ sends: 0 }]);
  await books.dataSource.query("DELETE FROM tasks WHERE status = 'Sent'");
  dispatcher.wake();
  await eventually(() => expect(sent).toEqual([8, 8]));
});

test("Of what lanes have no place for little is claimed again with each: params are read at most twice", async () => {
  await putReady(books.dataSource, COUNT);
  await books.dataSource.query("UPDATE tasks SET params = jsonb_build_object('text', repeat('x', $1))", [CHARS]);
  await changeLimits(books.dataSource, "work", { maxRunning: 1 });
  await putTaskService(books.dataSource, { meanMs: 2 });
  const store = new PostgresTaskQueueStore(books.dataSource);
  let sent = 0;
  let claimed = 0;
  const counted =
    <Asked extends unknown[], Told>(claim: (...asked: Asked) => Promise<Told>, count: (told: Told) => number) =>
    async (...asked: Asked): Promise<Told> => {
      const told = await claim.apply(store, asked);
      claimed += count(told);
      return told;
    };
  store.claim = counted(store.claim, ({ tasks }) => tasks.length);
  store.claimJoiners = counted(store.claimJoiners, (joiners) => joiners.length);
  const sender = {
    isReady: true,
    ready: () => Promise.resolve(),
    async send({ tasks }: Bundle) {
      sent += tasks.length;
      await books.dataSource.query("DELETE FROM tasks WHERE id = ANY($1)", [tasks.map(({ taskId }) => taskId)]);
      dispatcher.madeRoom();
      return "sent" as const;
    },
    cancel: () => Promise.resolve(),
  };
  const dispatcher = new TaskDispatcher({ store, sender, ...QUIET });
  onTestFinished(() => dispatcher.stop());
  dispatcher.start();
  await eventually(() => expect(sent).toBe(2 * COUNT));
  expect(claimed).toBeLessThanOrEqual(2 * sent);
});

test.each([
  ["", false],
  [", also within a rate", true],
])("Somebody outside is given 16 MiB of params at once, and the others when he asks again%s", async (_, isLimited) => {
  const store = new PostgresTaskTakeStore(books.dataSource);
  if (isLimited) await limitRate();
  const asked = { pool: "default", types: ["work"], count: COUNT, leaseMs: 60_000, wait: 0 };
  const counts: number[] = [];
  await allInParts(async () => {
    await untilApart();
    const { tasks } = await store.take(asked, newAction("task.take", SOMEBODY));
    if (tasks.length > 0) counts.push(tasks.length);
    return tasks;
  });
  // What was beyond had been given to nobody.
  expect(await books.dataSource.query("SELECT DISTINCT sends FROM tasks")).toEqual([{ sends: 1 }]);
  const trail = await books.dataSource.query(
    "SELECT count, jsonb_array_length(targets) AS named FROM audit WHERE deed = 'task.take' ORDER BY at, id",
  );
  expect(trail).toEqual(counts.map((count) => ({ count, named: Math.min(count, MAX_AUDITED_TARGETS) })));
});

test("What is given back late takes nothing off what others have claimed since", async () => {
  const store = new PostgresTaskTakeStore(books.dataSource);
  await limitRate();
  const action = newAction("task.take", SOMEBODY);
  const take = async (count: number) => {
    await untilApart();
    return (await store.take({ pool: "default", types: ["work"], count, leaseMs: 60_000 }, action)).tasks;
  };
  const [first, second] = [await take(3), await take(2)];
  await store.giveBack(first, action);
  expect(await countedStarts()).toBe(2);
  await take(4);
  // Of what is a second ago the next claim keeps nothing.
  await books.dataSource.query(
    "UPDATE task_types SET claimed_at = claimed_at[cardinality(claimed_at):], claimed = claimed[cardinality(claimed):]",
  );
  await store.giveBack(second, action);
  expect(await countedStarts()).toBe(4);
});
