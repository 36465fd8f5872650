import { once } from "node:events";
import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { BodyRoom, bodyRooms } from "../../services/observer-manager/src/adapters/http/server/body-room.ts";
import type { ManagerApi } from "../../services/observer-manager/src/operations/manager-api.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpManager, startHttpManager } from "../support/rest/http-manager.ts";
import { useBooks } from "../support/servers/books.ts";

/* The room for long bodies of all callers together: its numbers are docs/limits.md's. */

const ROOM_BYTES = 1_000_000;
const LONG_BYTES = 600_000;
const NEVER_MS = 600_000;
const here = new AbortController().signal;

const books = useBooks();

const start = (
  unread: BodyRoom,
  change?: (api: ManagerApi) => ManagerApi,
  parsed = bodyRooms().parsed,
): Promise<HttpManager> => startHttpManager(books.databaseUrl, change, undefined, undefined, { rooms: { unread, parsed } });

/** A batch of tasks of about so many bytes. */
const tasksOf = (bytes: number) => ({
  tasks: Array.from({ length: Math.ceil(bytes / 1_000) }, () => ({ type: "resize", params: { text: "x".repeat(950) } })),
});
const create = (manager: HttpManager, bytes: number) =>
  manager.call("POST", "/api/v1/tasks/batch", { json: tasksOf(bytes), headers: { prefer: "return=minimal" } });

/** As of a program that does not know how long it will be. */
async function createChunked({ url }: HttpManager, bytes: number) {
  const sent = request(`${url}/api/v1/tasks/batch`, { method: "POST", headers: { "content-type": "application/json" } });
  const text = JSON.stringify(tasksOf(bytes));
  for (let at = 0; at < text.length; at += 50_000) sent.write(text.slice(at, at + 50_000));
  sent.end();
  const [response] = await once(sent, "response");
  response.resume();
  return response as { statusCode: number; headers: Record<string, string> };
}

test("While others have all the room a long body is refused in time, and told to come again; short ones do not wait", async () => {
  const room = new BodyRoom({ bytes: ROOM_BYTES, maxWaitMs: 200 });
  const manager = await start(room);
  const giveBack = await room.take(ROOM_BYTES, here);
  const { status, body, headers } = await create(manager, LONG_BYTES);
  expect(status).toBe(503);
  expect(body).toMatchObject({ code: "not-ready", retryAfterS: 5, detail: expect.stringContaining("long bodies") });
  expect(headers.get("retry-after")).toBe("5");
  const chunked = await createChunked(manager, LONG_BYTES);
  expect([chunked.statusCode, chunked.headers["retry-after"]]).toEqual([503, "5"]);
  expect((await create(manager, 60_000)).status).toBe(200);
  expect((await createChunked(manager, 60_000)).statusCode).toBe(503); // it may become long
  giveBack?.();
  expect((await create(manager, LONG_BYTES)).status).toBe(200);
  expect((await createChunked(manager, LONG_BYTES)).statusCode).toBe(200);
  expect((await createChunked(manager, 60_000)).statusCode).toBe(200);
  const [left] = await books.dataSource.query("SELECT count(*)::int AS count FROM tasks");
  expect(left.count).toBe(1_320);
});

test("What is refused before it is read costs no room, and no manager, however much of it comes after the answer", async () => {
  const manager = await start(new BodyRoom({ bytes: ROOM_BYTES, maxWaitMs: NEVER_MS }));
  for (const odd of [{ "content-encoding": "gzip" }, { "content-type": "application/json; charset=iso-8859-1" }]) {
    const headers = { "content-type": "application/json", ...odd };
    for (const path of ["/api/v1/session", "/api/v1/tasks/batch"]) {
      const sent = request(manager.url + path, { method: "POST", headers }).on("error", () => undefined);
      sent.write("[");
      const [response] = await once(sent, "response");
      expect(response.statusCode).toBe(415);
      for (let part = 0; part < 4; part += 1) sent.write(" ".repeat(50_000));
      sent.destroy();
    }
  }
  expect((await createChunked(manager, LONG_BYTES)).statusCode).toBe(200);
});

test("Who signs in needs no room: nobody knows yet who that is", async () => {
  const room = new BodyRoom({ bytes: ROOM_BYTES, maxWaitMs: NEVER_MS });
  const manager = await start(room);
  await room.take(ROOM_BYTES, here);
  const { status } = await manager.call("POST", "/api/v1/session", { json: { token: "t".repeat(100_000) } });
  expect(status).toBe(413);
});

test("Long bodies wait for each other, and have their room until they are handled", async () => {
  let begun = 0;
  let most = 0;
  const counted = (api: ManagerApi): ManagerApi => {
    const { tasks } = api;
    const createTasks = tasks.createTasks.bind(tasks);
    tasks.createTasks = async (...given) => {
      begun += 1;
      most = Math.max(most, begun);
      return createTasks(...given).finally(() => (begun -= 1));
    };
    return api;
  };
  const manager = await start(new BodyRoom({ bytes: ROOM_BYTES, maxWaitMs: NEVER_MS }), counted);
  const answers = await Promise.all(Array.from({ length: 5 }, () => create(manager, LONG_BYTES)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(most).toBe(1);
});

test("Who leaves while his long body is handled has its room until then; who leaves before gives it back", async () => {
  let handled: (() => void) | undefined;
  let areHandled = 0;
  const held = (api: ManagerApi): ManagerApi => {
    const { tasks } = api;
    const createTasks = tasks.createTasks.bind(tasks);
    tasks.createTasks = async (...given) => {
      areHandled += 1;
      if (areHandled === 1) await new Promise<void>((resolve) => (handled = resolve));
      return createTasks(...given);
    };
    return api;
  };
  const manager = await start(new BodyRoom({ bytes: ROOM_BYTES, maxWaitMs: NEVER_MS }), held);
  const leave = async (text: string) => {
    const length = String(LONG_BYTES);
    const headers = { "content-type": "application/json", "content-length": length };
    const sent = request(`${manager.url}/api/v1/tasks/batch`, { method: "POST", headers }).on("error", () => undefined);
    onTestFinished(() => void sent.destroy());
    sent.write(text);
    return sent;
  };
  const left = () => manager.lines.filter(({ message }) => message.includes("left before"));
  const whole = JSON.stringify(tasksOf(LONG_BYTES - 50_000)).padEnd(LONG_BYTES);
  const handling = await leave(whole);
  await eventually(() => expect(areHandled).toBe(1));
  handling.destroy();
  const waiting = await leave(whole.slice(0, 100));
  const next = create(manager, LONG_BYTES);
  await eventually(() => expect(left()).toHaveLength(1));
  waiting.destroy();
  await eventually(() => expect(left()).toHaveLength(2));
  expect(areHandled).toBe(1);
  handled?.();
  expect((await next).status).toBe(200);
});

/** Far more to V8 than they are long. */
const heavy = `{"tasks":[{"type":"resize","params":[${"[],".repeat(25_000)}0]}]}`;
const light = `{"tasks":[${'{"type":"resize"},'.repeat(3_999)}{"type":"resize"}]}`;
const minimal = { "content-type": "application/json", prefer: "return=minimal" };
const post = (manager: HttpManager, body: string, signal?: AbortSignal) =>
  manager.call("POST", "/api/v1/tasks/batch", { body, headers: minimal, ...(signal && { signal }) });
const roomy = () => new BodyRoom({ bytes: ROOM_BYTES, maxWaitMs: NEVER_MS });

test("One that is too heavy for all the room is told how heavy it is, and one that is too deep that; neither waits", async () => {
  const parsed = new BodyRoom({ bytes: 1_500_000, maxWaitMs: NEVER_MS });
  const manager = await start(roomy(), undefined, parsed);
  const giveBack = await parsed.take(1, here);
  const refused = await post(manager, heavy);
  expect([refused.status, refused.body.code]).toEqual([413, "body-too-large"]);
  expect(refused.body.detail).toBe(
    "These 0.1 MiB of JSON would take 2.3 MiB of memory with all their values, and this manager has 1.4 MiB for bodies: send it in parts",
  );
  const deep = await post(manager, `{"tasks":[${"[".repeat(70_000)}`);
  expect([deep.status, deep.body.errors]).toEqual([422, [{ pointer: "", message: "nested deeper than 64 levels" }]]);
  giveBack?.();
});

test("Heavy ones wait for each other after they were read; who leaves meanwhile has no room; who waits too long comes again", async () => {
  const parsed = new BodyRoom({ bytes: 3_000_000, maxWaitMs: 500 });
  const unread = roomy();
  const manager = await start(unread, undefined, parsed);
  const answers = await Promise.all(Array.from({ length: 4 }, () => post(manager, heavy)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const giveBack = await parsed.take(3_000_000, here);
  const late = await post(manager, heavy);
  expect([late.status, late.body.code, late.headers.get("retry-after")]).toEqual([503, "not-ready", "5"]);
  const gone = new AbortController();
  const left = post(manager, heavy, gone.signal).catch(() => "left");
  gone.abort();
  expect(await left).toBe("left");
  giveBack?.();
  expect((await post(manager, light)).status).toBe(200);
  for (const room of [parsed, unread]) (await room.take(room.bytes, here))?.();
});
