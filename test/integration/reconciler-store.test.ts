import { randomUUID } from "node:crypto";
import { newMessageId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { keepUnapplied } from "../../services/observer-manager/src/adapters/postgres/books/unapplied-events.ts";
import { PostgresReconcilerStore } from "../../services/observer-manager/src/adapters/postgres/observers/reconciler-store.ts";
import { putObserver, putService, useBooks } from "../support/servers/books.ts";

const books = useBooks("services, observers, commands, errors, unapplied_events");

test("a service that drains, is cordoned or says that it takes nothing for now has no consumer to be counted", async () => {
  const put = (columns: Record<string, unknown>) => putService(books.dataSource, columns);
  const consuming = [await put({}), await put({ drain: "asked" }), await put({ drain: "cordon-asked" })];
  for (const columns of [{ drain: "begun" }, { drain: "cordoned" }, { not_consuming: "its memory is 91 % full" }])
    await put(columns);
  const { services } = await new PostgresReconcilerStore(books.dataSource).sight("default", 3_000);
  expect(services).toHaveLength(6);
  expect(services.filter(({ consumes }) => consumes).map(({ id }) => id)).toEqual(consuming.toSorted());
});

const LONG_AGO = new Date(Date.now() - 60_000);
const put = (columns: Record<string, unknown> = {}) =>
  putObserver(books.dataSource, { status: "Created", modified_at: LONG_AGO, ...columns });

async function suspects(): Promise<string[]> {
  const { suspects: found } = await new PostgresReconcilerStore(books.dataSource).sight("default", 3_000);
  return [...found.keys()];
}

test.each<[string, () => Promise<unknown>]>([
  ["changed a moment ago", () => put({ modified_at: new Date() })],
  ["whose run asks whether it may begin", () => put({ requested_run_id: randomUUID() })],
  ["that runs", () => put({ status: "Processing" })],
  ["that is paused", () => put({ status: "Paused" })],
  [
    "whose start is to be sent",
    async () => {
      const id = await put();
      await books.dataSource.query("INSERT INTO commands (kind, observer_id, revision) VALUES ('start', $1, 1)", [id]);
    },
  ],
  [
    "of which something was said that these books do not understand: it may be its end",
    async () => {
      const id = await put();
      const error = { reason: "unreadable", detail: "kept", queue: "q", messageId: newMessageId() } as const;
      const event = { error: { ...error, reporter: "somebody", body: "", bodyBytes: 0 }, observerIds: [id], batch: "{}" };
      await books.dataSource.transaction((tx) => keepUnapplied(tx, [event]));
      await books.dataSource.query("UPDATE observers SET modified_at = $1", [LONG_AGO]);
    },
  ],
])("An observer is in no doubt %s; one beside it that is nowhere is", async (_which, putOther) => {
  await putOther();
  const inDoubt = await put();
  expect(await suspects()).toEqual([inDoubt]);
});

async function sentBack(columns: Record<string, unknown> = {}, agoS = 5): Promise<string> {
  const id = await put({ type: "fresh", ...columns });
  await books.dataSource.query(
    `INSERT INTO commands (kind, observer_id, revision, reason, created_at, due_at)
     VALUES ('start', $1, 2, 'unknown-type', now() - $2::int * interval '1 s', now() + (60 - $2::int) * interval '1 s')`,
    [id, agoS],
  );
  return id;
}

test("A start that was sent back for its type is due once a service that takes work has it, in its pool, and it has rested", async () => {
  const reconciler = new PostgresReconcilerStore(books.dataSource);
  const [known] = [
    await sentBack(),
    await sentBack({ pool: "another" }),
    await sentBack({ type: "gone" }),
    await sentBack({}, 1),
  ];
  const types = (...names: string[]) => names.map((type) => ({ type, version: "1", paramsSchema: {} }));
  await putService(books.dataSource, { types: types("other") });
  await putService(books.dataSource, { types: types("fresh"), drain: "cordoned" });
  await putService(books.dataSource, { types: types("fresh"), state: "Gone", ended_at: LONG_AGO });
  expect(await reconciler.sendKnownStarts()).toBe(0);
  await putService(books.dataSource, { types: types("other", "fresh") });
  expect(await reconciler.sendKnownStarts()).toBe(1);
  const due = await books.dataSource.query("SELECT observer_id AS id FROM commands WHERE due_at <= now()");
  expect(due).toEqual([{ id: known }]);
  expect(await reconciler.sendKnownStarts()).toBe(0);
});
