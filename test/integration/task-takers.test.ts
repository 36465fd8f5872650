import { expect, test } from "vitest";
import { newToken } from "../../cli/src/config/new-token.ts";
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
  const log = keptLog();
  const [listed, narrowed] = [list, list.replace(" type:sketch", "")].map((lines) => callersOf(lines, log));
  let asked = 0;
  const identify = async (token: string) => ((asked++ === 0 ? listed : narrowed) as typeof listed & {}).identify(token);
  const his = await startHttpManager(books.databaseUrl, undefined, { callers: { isConfigured: true, identify } });
  const { status, body } = await asker(painter.token, his)("POST", "tasks/take", { types: ["sketch"], wait: 1_000 });
  expect([status, body.code, asked]).toEqual([401, "unauthorized", 2]);
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
