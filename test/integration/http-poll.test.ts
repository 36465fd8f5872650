import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type HarnessRun, runObserver } from "@unacked/sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { maxBodyBytes } from "../../observers/http-poll/get.ts";
import observer from "../../observers/http-poll.ts";
import ticker from "../../observers/ticker.ts";
import { eventually } from "../support/eventually.ts";

let server: Server;
let answer: RequestListener;
let requests = 0;
let url: string;
const runs: HarnessRun[] = [];

async function listen(port = 0): Promise<void> {
  server = createServer((request, response) => {
    requests++;
    answer(request, response);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data`;
}

function close(): Promise<unknown> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}

beforeEach(() => {
  requests = 0;
  return listen();
});
afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.stop()));
  await close();
});

function poll(params: object = {}): HarnessRun {
  const run = runObserver(observer, { params: { url, everyMs: 100, ...params } });
  runs.push(run);
  return run;
}

type Look = { status: number | "unreachable"; value?: unknown; error?: string };
const isStatus = (status: Look["status"]) => (event: Look) => event.status === status;

test("a change of status is emitted with what was before; no change is not", async () => {
  let status = 200;
  answer = (_, response) => response.writeHead(status).end("hello");
  const run = poll();
  expect(await run.waitForEvent()).toEqual({ status: 200, previous: null, at: expect.stringMatching(/Z$/) });
  await eventually(() => requests >= 4);
  expect(run.events).toHaveLength(1);
  status = 503;
  expect(await run.waitForEvent(isStatus(503))).toMatchObject({ previous: { status: 200 } });
});

test("a change of the value at the JSON pointer is emitted, of the rest it is not", async () => {
  let value: unknown = { deep: [1] };
  answer = (_, response) => response.end(JSON.stringify({ data: { price: value }, requests }));
  const run = poll({ pointer: "/data/price" });
  expect(await run.waitForEvent()).toMatchObject({ status: 200, value: { deep: [1] } });
  await eventually(() => requests >= 3);
  expect(run.events).toHaveLength(1);
  value = null;
  expect(await run.waitForEvent<Look>((event) => event.value === null)).toMatchObject({
    previous: { value: { deep: [1] } },
  });
});

test("a server that goes away is a state, and so is its return", async () => {
  answer = (_, response) => response.end();
  const run = poll();
  await run.waitForEvent(isStatus(200));
  const port = Number(new URL(url).port);
  await close();
  expect(await run.waitForEvent(isStatus("unreachable"))).toMatchObject({ error: expect.stringContaining("ECONNREFUSED") });
  await listen(port);
  await eventually(() => expect(run.events.at(-1)).toMatchObject({ status: 200, previous: { status: "unreachable" } }));
});

test("no answer within timeoutMs is unreachable too, in the body as well", async () => {
  answer = () => {};
  expect(await poll({ timeoutMs: 100 }).waitForEvent()).toMatchObject({
    status: "unreachable",
    error: "no answer within 100 ms",
  });
  answer = (_, response) => response.write("{");
  expect(await poll({ timeoutMs: 100, pointer: "/a" }).waitForEvent()).toMatchObject({ status: "unreachable" });
});

test("a body without end is not read to its end", async () => {
  answer = (_, response) => response.end("x".repeat(maxBodyBytes + 1));
  expect(await poll({ pointer: "/a" }).waitForEvent()).toMatchObject({
    status: 200,
    error: expect.stringContaining("over"),
  });
});

test("a change between two values that no event has room for together is told without the one before", async () => {
  const text = "x".repeat(600_000);
  let value = `${text}1`;
  answer = (_, response) => response.end(JSON.stringify({ value }));
  const run = poll({ pointer: "/value" });
  expect(await run.waitForEvent()).toMatchObject({ value, previous: null });
  value = `${text}2`;
  expect(await run.waitForEvent<Look>((event) => event.value === value)).toEqual({
    ...{ status: 200, value, previous: { status: 200, valueLeftOut: true }, at: expect.any(String) },
  });
  value = "short";
  expect(await run.waitForEvent<Look>((event) => event.value === value)).toMatchObject({ previous: { value: `${text}2` } });
  value = "x".repeat(1_046_000);
  expect(await run.waitForEvent<Look>((event) => event.error !== undefined)).toMatchObject({
    ...{ status: 200, error: expect.stringContaining("the value is over"), previous: { value: "short" } },
  });
});

test("a byte order mark before the JSON is none of it", async () => {
  answer = (_, response) => response.end(`\u{FEFF}{"price":7}`);
  expect(await poll({ pointer: "/price" }).waitForEvent()).toMatchObject({ status: 200, value: 7 });
});

test("a stop does not wait for an answer", async () => {
  answer = () => {};
  const run = poll({ timeoutMs: 60_000 });
  await eventually(() => requests === 1);
  expect(await run.stop()).toEqual({ outcome: "stopped" });
  expect(run.events).toEqual([]);
});

test("headers are sent along", async () => {
  let seen: string | undefined;
  answer = (request, response) => {
    seen = String(request.headers["x-key"]);
    response.end();
  };
  await poll({ headers: { "X-Key": "open" } }).waitForEvent();
  expect(seen).toBe("open");
});

test.each([
  ["/url", { url: "ftp://127.0.0.1/" }],
  ["/pointer", { pointer: "data" }],
  ["/everyMs", { everyMs: 1 }],
  ["/colour", { colour: "red" }],
])("a bad %s fails the run, named", async (pointer, params) => {
  expect(await poll(params).finished).toMatchObject({
    outcome: "failed",
    error: { message: expect.stringContaining(`${pointer}: `) },
  });
});

test("a ticker counts at its pace until it is stopped", async () => {
  const run = runObserver(ticker, { params: { everyMs: 20 } });
  expect(await run.waitForEvent<{ n: number }>(({ n }) => n === 3)).toEqual({ n: 3, at: expect.stringMatching(/Z$/) });
  expect(await run.stop()).toEqual({ outcome: "stopped" });
  expect((run.events as { n: number }[]).map(({ n }) => n)).toEqual(run.events.map((_, index) => index + 1));
});

test("where nothing has changed the server need not send it again: it is asked with the ETag, of the run before too", async () => {
  const asked: (string | undefined)[] = [];
  let etag = '"one"';
  answer = (request, response) => {
    asked.push(request.headers["if-none-match"]);
    if (request.headers["if-none-match"] === etag) return response.writeHead(304).end();
    return response.writeHead(200, { etag, "content-type": "application/json" }).end(`{"price":${etag}}`);
  };
  const run = poll({ pointer: "/price" });
  await run.waitForEvent();
  await eventually(() => expect(asked.length).toBeGreaterThan(3));
  expect(asked.slice(0, 3)).toEqual([undefined, '"one"', '"one"']);
  expect(run.events).toHaveLength(1);
  await run.stop();
  const checkpoint = run.checkpoints.at(-1);
  expect(run.checkpoints).toEqual([{ url, pointer: "/price", etag: '"one"', look: { status: 200, value: "one" } }]);

  asked.splice(0);
  const next = runObserver(observer, { params: { url, everyMs: 100, pointer: "/price" }, checkpoint });
  runs.push(next);
  await eventually(() => expect(asked.length).toBeGreaterThan(3));
  expect([asked[0], next.events]).toEqual(['"one"', []]);
  etag = '"two"';
  expect(await next.waitForEvent()).toMatchObject({ value: "two", previous: { status: 200, value: "one" } });
  await next.stop();

  asked.splice(0);
  const other = runObserver(observer, { params: { url, everyMs: 100 }, checkpoint });
  runs.push(other);
  expect(await other.waitForEvent()).toMatchObject({ status: 200, previous: null });
  expect(asked[0]).toBe(undefined);
});

test("who says by its own headers what it knows gets the server's 304", async () => {
  answer = (request, response) =>
    response.writeHead(request.headers["if-none-match"] === '"mine"' ? 304 : 200, { etag: '"mine"' }).end();
  const run = poll({ headers: { "If-None-Match": '"mine"' } });
  expect(await run.waitForEvent()).toMatchObject({ status: 304, previous: null });
});

test("what is too large for a checkpoint is seen anew by the next run", async () => {
  answer = (_, response) => response.end(JSON.stringify({ text: "x".repeat(70_000) }));
  const run = poll({ pointer: "/text" });
  await run.waitForEvent();
  await eventually(() => expect(run.checkpoints).toHaveLength(1));
  const next = runObserver(observer, { params: { url, everyMs: 100, pointer: "/text" }, checkpoint: run.checkpoints[0] });
  runs.push(next);
  expect(await next.waitForEvent()).toMatchObject({ status: 200, previous: null });
});
