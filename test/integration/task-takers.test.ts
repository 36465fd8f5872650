import { expect, test } from "vitest";
import { newToken } from "../../cli/src/config/new-token.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpManager, startHttpManager, useHttpManager } from "../support/rest/http-manager.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog } from "../support/servers/books.ts";
import { putReady } from "../support/system/waiting-tasks.ts";

/* The role of those who work on tasks outside, and nothing else. */

const tokens = roleTokens();
const painter = newToken("painter", "taker", { types: ["paint", "sketch"], pools: ["default", "night"] });
const list = `${tokens.list}\n${painter.line}`;
const access = () => ({ callers: callersOf(list, keptLog()) });
const { books, manager } = useHttpManager({ emptied: "tasks, ended_tasks, task_types, task_services, audit", access });

const asker =
  (token: string, at: Pick<HttpManager, "call"> = manager) =>
  (method: string, path: string, json?: object) =>
    at.call(method, `/api/v1/${path}`, { ...(json && { json }), headers: bearer(token) });

test("A taker works on what is taken, sees nothing else of the API, and stands in the audit trail", async () => {
  const taker = asker(tokens.of.taker);
  await putReady(books.dataSource, 3, { type: "paint" });
  const { tasks } = (await taker("POST", "tasks/take", { types: ["paint"], count: 3 })).body;
  const [done, failed, left] = tasks;
  const say = ({ id, sendId }: { id: string; sendId: string }, what: string, more: object = {}) =>
    taker("POST", `tasks/${id}/${what}`, { sendId, ...more });
  expect((await say(done, "extend", { leaseMs: 60_000 })).status).toBe(200);
  expect((await say(done, "complete", { output: 1 })).body).toMatchObject({ status: "Completed" });
  expect((await say(failed, "fail", { error: { message: "no paint" } })).body).toMatchObject({ status: "Scheduled" });
  expect((await say(left, "release")).body).toMatchObject({ status: "Ready" });
  const why = "and a-taker is taker";
  for (const [method, path, neededRole] of [
    ["GET", `tasks/${done.id}`, "viewer"],
    ["GET", "tasks", "viewer"],
    ["GET", "session", "viewer"],
    ["POST", "tasks", "operator"],
    ["POST", `tasks/${left.id}/take-back`, "operator"],
    ["GET", "audit", "admin"],
  ] as const) {
    const { body } = await taker(method, path, method === "GET" ? undefined : {});
    expect(body).toMatchObject({ code: "forbidden", neededRole, detail: `It needs the role ${neededRole}, ${why}` });
  }
  const { items } = (await asker(tokens.of.admin)("GET", "audit?actor=a-taker")).body;
  expect(items.map((entry: { action: string }) => entry.action).toSorted()).toEqual([
    "task.complete",
    "task.fail",
    "task.release",
    "task.take",
  ]);
  expect(items[0].actor).toMatchObject({ name: "a-taker", role: "taker", authentication: "token" });
});

test("Who looks takes nothing: a viewer is told which role it needs", async () => {
  await putReady(books.dataSource, 1, { type: "paint" });
  const { body } = await asker(tokens.of.viewer)("POST", "tasks/take", { types: ["paint"] });
  expect(body).toMatchObject({ code: "forbidden", neededRole: "taker" });
});

test("A token that names types and pools takes of these alone, and whoever asks for more is told, and stands in the log", async () => {
  await putReady(books.dataSource, 1, { type: "paint" });
  await putReady(books.dataSource, 1, { type: "wash" });
  const his = await startHttpManager(books.databaseUrl, undefined, access());
  const take = (asked: object) => asker(painter.token, his)("POST", "tasks/take", asked);
  const types = "painter may take tasks of the types paint, sketch only, and not of wash";
  const pools = "painter may take tasks in the pools default, night only, and not in day";
  for (const [asked, detail] of [
    [{ types: ["wash"] }, types],
    [{ types: ["paint", "wash"], wait: 30_000 }, types],
    [{ types: ["paint"], pool: "day" }, pools],
  ] as const) {
    const { status, body } = await take(asked);
    expect([status, body]).toEqual([403, expect.objectContaining({ code: "forbidden", detail })]);
    expect(body.remedy).toContain("type: and pool:");
    expect(body).not.toHaveProperty("neededRole");
  }
  const told = his.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields);
  expect(told).toEqual(
    [types, types, pools].map((why) => ({ event: "caller-refused", address: "127.0.0.1", name: "painter", why })),
  );
  expect((await take({ types: ["paint"] })).body.tasks).toHaveLength(1);
  expect((await take({ types: ["sketch"], pool: "night" })).body.tasks).toEqual([]);
});

test("Who waits while the line of his token is made to give less is given nothing by it", async () => {
  let lines = list;
  const log = keptLog();
  const identify = (token: string) => callersOf(lines, log).identify(token);
  const his = await startHttpManager(books.databaseUrl, undefined, { callers: { isConfigured: true, identify } });
  const operator = asker(tokens.of.operator);
  const statusOf = async (id: string) => (await operator("GET", `tasks/${id}`)).body.status;
  for (const type of ["paint", "wash"]) await asker(tokens.of.admin)("PATCH", `task-types/${type}`, { outside: true });
  // Nobody makes it Ready before somebody waits.
  const startAt = new Date(Date.now() + 3_600_000).toISOString();
  const later = (await operator("POST", "tasks", { type: "wash", startAt })).body;
  await books.dataSource.query("UPDATE tasks SET due_at = now() WHERE id = $1", [later.id]);
  const waits = asker(painter.token, his)("POST", "tasks/take", { types: ["paint"], wait: 30_000 });
  await eventually(async () => expect(await statusOf(later.id)).toBe("Ready"));
  lines = list.replace(" type:paint", "");
  const { id } = (await operator("POST", "tasks", { type: "paint" })).body;
  const { status, body } = await waits;
  expect([status, body.code]).toEqual([401, "unauthorized"]);
  await eventually(async () => expect(await statusOf(id)).toBe("Ready"));
});

test("A taker cannot sign in to the page, and is told which role that needs", async () => {
  const refused = await manager.call("POST", "/api/v1/session", { json: { token: tokens.of.taker } });
  expect(refused.body).toMatchObject({
    code: "forbidden",
    neededRole: "viewer",
    detail: "The page needs the role viewer, and a-taker is taker",
  });
  expect(refused.headers.getSetCookie()).toEqual([]);
});
