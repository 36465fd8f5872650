import { randomUUID } from "node:crypto";
import { newTaskId, type TaskId, type TimerId } from "@unacked/contracts";
import { EntityManager } from "typeorm";
import { expect, it, onTestFinished, vi } from "vitest";
import { PostgresRequestStore } from "../../services/observer-manager/src/adapters/postgres/requests/postgres-request-store.ts";
import { PostgresTimerStore } from "../../services/observer-manager/src/adapters/postgres/timers/postgres-timer-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import type { TaskDecision } from "../../services/observer-manager/src/operations/requests/request-store.ts";
import type { NewTask } from "../../services/observer-manager/src/operations/tasks/creations/new-task.ts";
import type { NewTimer } from "../../services/observer-manager/src/operations/timers/timer-store.ts";
import { eventually } from "../support/eventually.ts";
import { SOMEBODY, useBooks } from "../support/servers/books.ts";
import { WAITING } from "../support/servers/lock-waits.ts";

const books = useBooks();
const action = newAction("task.create", SOMEBODY);
const decisionOf = (messageId: string, said: string): TaskDecision => ({
  name: "billing",
  messageId,
  digest: "d",
  items: [
    {
      action,
      task: { id: newTaskId(), type: "t", params: {}, pool: "default", priority: 0, onConflict: "reject" },
    },
  ],
  answer: () => said,
});
const countTasks = async () =>
  (await books.dataSource.query<{ count: number }[]>("SELECT count(*)::int AS count FROM tasks"))[0]?.count;

it("Of managers that decide the same request at once one does, with its task; the others do nothing and find what it said", async () => {
  const store = new PostgresRequestStore(books.dataSource);
  const before = (await countTasks()) ?? 0;
  for (let round = 0; round < 20; round += 1) {
    const key = { name: "billing", messageId: `m-${round}` };
    const decided = await Promise.all(
      [1, 2, 3].map((who) =>
        store.createTasks([decisionOf(key.messageId, `said by ${who}`), decisionOf(`own-${round}-${who}`, "own")]),
      ),
    );
    const winners = decided.flatMap((one) => (one === undefined ? [] : [one[0]]));
    expect(winners).toHaveLength(1);
    expect((await store.find([key])).get(`billing m-${round}`)).toMatchObject({ digest: "d", json: winners[0] });
  }
  expect(await countTasks()).toBe(before + 40);
});

it("Of hundreds of keys that somebody's open transaction has, each is told so, and who waits behind them waits for seconds", async () => {
  const store = new PostgresRequestStore(books.dataSource);
  const keys = Array.from({ length: 100 }, (_, i) => `held-${i}`);
  const shop = books.dataSource.createQueryRunner();
  await shop.startTransaction();
  for (const key of keys) await shop.query("SELECT unacked_create_task('t', '{}', key => $1)", [key]);
  const ofKey = (key: string): TaskDecision["items"][number] => ({
    action,
    task: { id: newTaskId(), type: "t", params: {}, pool: "default", priority: 0, onConflict: "reject", key },
  });
  const query = vi.spyOn(EntityManager.prototype, "query");
  onTestFinished(() => query.mockRestore());
  const answers = await store.createTasks([
    {
      ...decisionOf("keys", ""),
      items: [...keys, "free"].map(ofKey),
      answer: (outcomes) => outcomes.map(({ kind }) => kind).join(),
    },
  ]);
  const waitsMs = query.mock.calls.map(([sql]) => Number(/^SET LOCAL lock_timeout = (\d+)$/.exec(sql)?.[1] ?? 0));
  await shop.rollbackTransaction();
  await shop.release();
  expect(answers).toEqual([[...keys.map(() => "held-up"), "created"].join()]);
  const mayWaitMs = waitsMs.reduce((sum, ms) => sum + ms, 0);
  expect(mayWaitMs).toBeGreaterThan(2_000);
  expect(mayWaitMs).toBeLessThan(5_000); // each for a tenth of a second: 12 s
});

it("Of ids that somebody's open transaction has, each is told so, and those that come with them are created", async () => {
  const store = new PostgresRequestStore(books.dataSource);
  const held = Array.from({ length: 3 }, newTaskId);
  const shop = books.dataSource.createQueryRunner();
  await shop.startTransaction();
  onTestFinished(() => shop.release());
  for (const id of held) await shop.query("SELECT unacked_create_task('t', '{}', id => $1)", [id]);
  const itemOf = (id: TaskId, more: Partial<NewTask> = {}): TaskDecision["items"][number] => ({
    action,
    task: { ...more, id, type: "t", params: {}, pool: "default", priority: 0, onConflict: "reject" },
  });
  const free = [itemOf(newTaskId()), itemOf(newTaskId(), { hasNewId: true })];
  const answers = await store.createTasks([
    {
      ...decisionOf("ids", ""),
      items: [...held.map((id) => itemOf(id)), ...free],
      answer: (outcomes) => outcomes.map(({ kind }) => kind).join(),
    },
  ]);
  await shop.rollbackTransaction();
  expect(answers).toEqual([[...held.map(() => "held-up"), "created", "created"].join()]);
});

it("A lock on the table is nobody's id: what waits for it is created when it is gone", async () => {
  const store = new PostgresRequestStore(books.dataSource);
  const upkeep = books.dataSource.createQueryRunner();
  await upkeep.startTransaction();
  onTestFinished(() => upkeep.release());
  await upkeep.query("LOCK TABLE tasks IN SHARE MODE"); // as CREATE INDEX
  const { items } = decisionOf("", "");
  const decision = { ...decisionOf("table", ""), items, answer: ([one]: { kind: string }[]) => String(one?.kind) };
  const answers = store.createTasks([decision]);
  const untilPatient = eventually(
    async () => expect(await books.dataSource.query(`${WAITING} AND query LIKE 'LOCK TABLE %'`)).toHaveLength(1),
    { what: "one that waits for the table alone" },
  );
  await Promise.race([answers, untilPatient]);
  await upkeep.commitTransaction();
  expect(await answers).toEqual(["created"]);
});

it("Of ten thousand ids of which somebody's open transaction has one, that one is told so, and few of the others are looked at by themselves", async () => {
  const store = new PostgresRequestStore(books.dataSource);
  const ids = Array.from({ length: 10_000 }, newTaskId);
  const shop = books.dataSource.createQueryRunner();
  await shop.startTransaction();
  onTestFinished(() => shop.release());
  await shop.query("SELECT unacked_create_task('t', '{}', id => $1)", [ids[5_000]]);
  const query = vi.spyOn(EntityManager.prototype, "query");
  onTestFinished(() => query.mockRestore());
  const [answer] =
    (await store.createTasks([
      {
        ...decisionOf("ten thousand", ""),
        items: ids.map((id) => ({
          action,
          task: { id, type: "t", params: {}, pool: "default", priority: 0, onConflict: "reject" },
        })),
        answer: (outcomes) => outcomes.map(({ kind }) => kind).join(),
      },
    ])) ?? [];
  const looks = query.mock.calls.filter(([sql]) => sql === "SAVEPOINT beside").length;
  await shop.rollbackTransaction();
  expect(answer?.split(",")).toEqual(ids.map((_, i) => (i === 5_000 ? "held-up" : "created")));
  expect(looks).toBe(1 + 100 + 100);
});

it("What is kept of cancels has no payloads, which were kept when they were set", async () => {
  const store = new PostgresRequestStore(books.dataSource);
  const id = randomUUID() as TimerId;
  const timer: NewTimer = {
    id,
    name: "billing.due",
    payload: { long: "text" },
    at: "2100-01-01T00:00:00Z",
    expiresAt: undefined,
  };
  const timers = new PostgresTimerStore(books.dataSource);
  await timers.put([{ timer, action: newAction("timer.create", SOMEBODY) }]);
  const cancel = { id, action: newAction("timer.cancel", SOMEBODY) };
  const decision = { name: "billing", messageId: "cancels", digest: "d", items: [cancel], answer: JSON.stringify };
  const [answer] = (await store.cancelTimers([decision])) ?? [];
  expect(JSON.parse(answer ?? "")).toMatchObject([{ kind: "cancelled", timer: { id, status: "Cancelled", payload: null } }]);
  expect(await timers.find(id)).toMatchObject({ status: "Cancelled", payload: timer.payload });
});

it("What was decided long ago is forgotten, in small batches, and no more", async () => {
  const store = new PostgresRequestStore(books.dataSource);
  await store.createTasks(Array.from({ length: 25 }, (_, i) => decisionOf(`old-${i}`, "said")));
  await books.dataSource.query(
    "UPDATE task_requests SET decided_at = now() - interval '8 days' WHERE message_id LIKE 'old-%'",
  );
  await store.createTasks([decisionOf("new", "said")]);
  expect(await store.forget(7 * 86_400_000, 20)).toBe(20);
  expect(await store.forget(7 * 86_400_000, 20)).toBe(5);
  expect(await store.forget(7 * 86_400_000, 20)).toBe(0);
  expect((await store.find([{ name: "billing", messageId: "new" }])).size).toBe(1);
});

it("Of kept answers that are long together only the first come with what was found, in the order in which they are asked for", async () => {
  const store = new PostgresRequestStore(books.dataSource);
  const messageIds = ["long-3", "long-1", "long-2", "long-0"];
  for (const messageId of messageIds)
    await store.createTasks([{ ...decisionOf(messageId, "x".repeat(4_000_000)), items: [] }]);
  const found = await store.find(messageIds.map((messageId) => ({ name: "billing", messageId })));
  const lengths = messageIds.map((messageId) => found.get(`billing ${messageId}`)?.json?.length ?? null);
  expect(lengths).toEqual([4_000_000, 4_000_000, null, null]);
});
