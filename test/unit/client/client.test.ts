import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CallError, Client, contractDecoder, openStream, trustingDecoder, Wire } from "@unacked/client";
import { CALLS, type Call, PROBLEMS, type ProblemCode } from "@unacked/contracts";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { STATS } from "../../../services/observer-manager/src/adapters/http/openapi/examples/overview-examples.ts";
import { problemExample } from "../../../services/observer-manager/src/adapters/http/openapi/examples/problem-examples.ts";
import { CREATED, NEW_TASK } from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-examples.ts";
import { observerView } from "../cli/views.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function clientOf(answer: RequestListener, parts: { retries?: number; timeoutMs?: number } = {}): Promise<Client> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { timeoutMs = 5_000, ...rest } = parts;
  return new Client({ wire: new Wire({ url: `http://127.0.0.1:${port}`, timeoutMs }), decoder: contractDecoder, ...rest });
}

type Answered = Parameters<RequestListener>[1];

const json = (response: Answered, value: unknown, status = 200, type = "application/json") =>
  void response.writeHead(status, { "content-type": type }).end(JSON.stringify(value));

const problem = (response: Answered, code: ProblemCode, more: object = {}) =>
  json(
    response,
    { ...PROBLEMS[code], type: "urn:x", detail: "of this case", code, requestId: "r", ...more },
    PROBLEMS[code].status,
    "application/problem+json",
  );

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text === "" ? undefined : JSON.parse(text);
}

describe("a call", () => {
  test("goes to its place with path, query and body, and its answer has the contract's shape", async () => {
    const seen: unknown[] = [];
    const client = await clientOf((request, response) => {
      void bodyOf(request).then((body) => {
        seen.push([request.method, request.url, body]);
        json(response, observerView());
      });
    });
    const input = { path: { ref: "a/b c" }, query: { force: true } };
    expect((await client.call("deleteObserver", input)).name).toBe(observerView().name);
    await client.call("createObserver", { body: { name: "n", type: "t" } });
    expect(seen).toEqual([
      ["DELETE", "/api/v1/observers/a%2Fb%20c?force=true", undefined],
      ["POST", "/api/v1/observers", { name: "n", type: "t" }],
    ]);
  });

  test("that is answered by nothing has no answer", async () => {
    const client = await clientOf((_request, response) => void response.writeHead(204).end());
    expect(await client.call("deleteError", { path: { errorId: "1" } })).toBeUndefined();
  });

  test("of readiness is answered also where it is not ready, which is no refusal; that of metrics by their text", async () => {
    const notReady = { ready: false, checks: { database: { ok: false, detail: "away" } } };
    const answers: RequestListener[] = [
      (_request, response) => json(response, notReady, 503),
      (_request, response) => void response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end("up 1\n"),
      (_request, response) => problem(response, "not-ready"),
      (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    ];
    const client = await clientOf((request, response) => answers.shift()?.(request, response), { retries: 0 });
    expect(await client.call("isReady", {})).toEqual(notReady);
    expect(await client.call("getMetrics", {})).toBe("up 1\n");
    await expect(client.call("isReady", {})).rejects.toMatchObject({ kind: "refused", code: "not-ready" });
    await expect(client.call("getMetrics", {})).rejects.toMatchObject({ kind: "not-unacked" });
    // No other call is answered with either; the trusting decoder has no schema to see that.
    const told = Object.entries(CALLS as Record<string, Call>).flatMap(([name, { answers, events }]) =>
      Object.entries(answers)
        .filter(([status, schema]) => Number(status) > 299 || (schema instanceof z.ZodString && events === undefined))
        .map(([status]) => `${name} ${status}`),
    );
    expect(told).toEqual(["isReady 503", "getMetrics 200"]);
    const trusting = new Client({ wire: new Wire({ url: client.url }), decoder: trustingDecoder, retries: 0 });
    answers.push((_request, response) => json(response, notReady, 503));
    expect(await trusting.call("isReady", {})).toEqual(notReady);
  });

  test("is made again where the manager says later, and then fails as it was told", async () => {
    let asked = 0;
    const client = await clientOf(
      (_request, response) => {
        asked += 1;
        if (asked === 2) json(response, observerView());
        else problem(response, "not-ready");
      },
      { retries: 1 },
    );
    await client.call("getObserver", { path: { ref: "x" } });
    expect(asked).toBe(2);
    const failure = await client.call("getObserver", { path: { ref: "x" } }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "refused", code: "not-ready", status: 503 });
    expect(asked).toBe(4);
  });

  test.each([
    ["a create without an id, which would be another one", { name: "n", type: "t" }, 1],
    ["one with an id, as it is safe to repeat", { name: "n", type: "t", id: "0190b7c8-0000-7000-8000-000000000001" }, 3],
  ])("is made again only where that is safe: %s", async (_what, body, times) => {
    let asked = 0;
    const client = await clientOf((request) => {
      asked += 1;
      request.socket.destroy();
    });
    await expect(client.call("createObserver", { body: body as never })).rejects.toMatchObject({ kind: "unreachable" });
    expect(asked).toBe(times);
  });

  test.each([
    ["runSchedule", { path: { scheduleId: "nightly" }, body: {} }],
    ["beginWork", { body: { act: "restart", all: true } }],
    ["moveObserver", { path: { ref: "x" } }],
    ["reloadService", { path: { service: "x" } }],
    ["restartObserver", { path: { ref: "x" } }],
    ["restartObservers", { body: { names: ["x"] } }],
    ["retryTask", { path: { taskId: "x" } }],
    ["retryTaskFailures", { body: { type: "x" } }],
    ["cancelTask", { path: { taskId: "x" } }],
    ["deleteObserver", { path: { ref: "x" } }],
    ["deleteSchedule", { path: { scheduleId: "x" } }],
    ["resumeObserver", { path: { ref: "x" } }],
  ] as const)("that would be done twice, or be refused as done already, is not made again: %s", async (name, input) => {
    let asked = 0;
    const client = await clientOf((request) => {
      asked += 1;
      request.socket.destroy();
    });
    await expect(client.call(name, input as never)).rejects.toMatchObject({ kind: "unreachable" });
    expect(asked).toBe(1);
  });

  test.each([
    ["getTask", { path: { taskId: "x" } }],
    ["putSchedule", { path: { scheduleId: "nightly" }, body: {} }],
    ["beginWork", { body: { act: "restart", all: true, id: "0190b7c8-0000-7000-8000-000000000001" } }],
    ["runSchedule", { path: { scheduleId: "nightly" }, body: { id: "0190b7c8-0000-7000-8000-000000000001" } }],
    ["createTimers", { body: { timers: [{ id: "x" }] } }],
    ["completeTask", { path: { taskId: "x" }, body: {} }],
    ["releaseTask", { path: { taskId: "x" }, body: {} }],
    ["pauseSchedule", { path: { scheduleId: "nightly" } }],
  ] as const)("that is answered the same again is made again: %s", async (name, input) => {
    let asked = 0;
    const client = await clientOf(
      (request) => {
        asked += 1;
        request.socket.destroy();
      },
      { retries: 1 },
    );
    await expect(client.call(name, input as never)).rejects.toMatchObject({ kind: "unreachable" });
    expect(asked).toBe(2);
  });

  const destroyed: RequestListener = (request) => void request.socket.destroy();
  const refusing =
    (code: ProblemCode): RequestListener =>
    (_request, response) =>
      problem(response, code, { retryAfterS: 0 });
  const paged =
    (status: number): RequestListener =>
    (_request, response) =>
      void response.writeHead(status, { "content-type": "text/html" }).end("<p>");

  test.each<[string, RequestListener[], object]>([
    ["nobody answered", [destroyed], { kind: "unreachable" }],
    ["nobody answered, after a refusal", [refusing("too-many-requests"), destroyed], { kind: "unreachable" }],
    ["a proxy answered", [paged(504)], { kind: "not-unacked", status: 504 }],
    ["the database was lost, maybe as it committed", [refusing("database-unavailable")], { code: "database-unavailable" }],
    ["it was refused", [refusing("too-many-requests")], { code: "timer-over" }],
    ["nothing was before", [], { code: "timer-over" }],
  ])(
    "that sets a timer, and meets that it is over, fails as a try before that may have set it: %s",
    async (_, before, how) => {
      const answers = [...before, refusing("timer-over")];
      const client = await clientOf((request, response) => answers.shift()?.(request, response));
      const put = client.call("putTimer", { path: { timerId: "x" }, body: {} as never });
      await expect(put).rejects.toMatchObject(how);
      expect(answers).toEqual([]);
    },
  );

  test.each<[string, RequestListener[], object, object]>([
    ["nobody answered", [destroyed], { inMs: 1_000 }, { kind: "unreachable" }],
    ["nothing was before", [], { inMs: 1_000 }, { code: "invalid-body" }],
    ["a time that was as wrong then", [destroyed], { at: "2026-01-01T00:00:00Z" }, { code: "invalid-body" }],
  ])(
    "that sets a timer, and meets that it would expire first by now, fails as a try before that may have set it: %s",
    async (_, before, body, how) => {
      const errors = [{ pointer: "/expiresAt", message: "must be later" }];
      const inVain: RequestListener = (_request, response) => problem(response, "invalid-body", { errors });
      const answers = [...before, inVain];
      const client = await clientOf((request, response) => answers.shift()?.(request, response));
      const put = client.call("putTimer", { path: { timerId: "x" }, body: body as never });
      await expect(put).rejects.toMatchObject(how);
      expect(answers).toEqual([]);
    },
  );

  test("ends with its signal, by the signal's reason", async () => {
    const client = await clientOf(() => undefined);
    const leaving = new AbortController();
    const call = client.call("getStats", {}, leaving.signal);
    leaving.abort(new Error("gone home"));
    await expect(call).rejects.toThrow("gone home");
  });

  test("says what is no manager, what sends elsewhere, and what answers too late", async () => {
    const answers: RequestListener[] = [
      (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      (_request, response) => void response.writeHead(302, { location: "https://else.example/" }).end(),
      (_request, response) => json(response, { items: 1 }),
      () => undefined,
    ];
    const kinds = ["not-unacked", "redirected", "misshapen", "timed-out"];
    for (const [i, answer] of answers.entries()) {
      // Short only where nothing answers: a machine that stands still for so long would be too late for the others.
      const client = await clientOf(answer, { retries: 0, ...(kinds[i] === "timed-out" && { timeoutMs: 200 }) });
      const failure = await client.call("listTypes", {}).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(CallError);
      expect((failure as CallError).kind).toBe(kinds[i]);
      server?.closeAllConnections();
      server?.close();
    }
  });
});

test("a list comes page by page, up to so many rows", async () => {
  const asked: (string | undefined)[] = [];
  const client = await clientOf((request, response) => {
    asked.push(request.url?.split("?")[1]);
    json(response, { items: [observerView(), observerView()], total: 9, nextCursor: `c${asked.length}` });
  });
  let rows = 0;
  for await (const { items } of client.pages("listObservers", { status: ["Failed", "Created"] }, { limit: 5 }))
    rows += items.length;
  expect(rows).toBe(6);
  expect(asked).toEqual([
    "status=Failed&status=Created&limit=5",
    "status=Failed&status=Created&limit=3&cursor=c1",
    "status=Failed&status=Created&limit=1&cursor=c2",
  ]);
});

test("what an observer says is followed to its end, over a break, and nothing twice", async () => {
  const from: unknown[] = [];
  const client = await clientOf((request, response) => {
    from.push(request.headers["last-event-id"]);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const entry = { kind: "emit", seq: from.length, at: "2026-01-01T00:00:00.000Z", cut: false, value: 1 };
    response.write(`event: entry\nid: e${from.length}\ndata: ${JSON.stringify(entry)}\n\nevent: of-tomorrow\ndata: {}\n\n`);
    response.end(from.length < 2 ? "" : 'event: end\ndata: {"status":"Completed"}\n\nevent: entry\ndata: {}\n\n');
  });
  const names: string[] = [];
  for await (const { name } of client.logs("x", { limit: 3 }, AbortSignal.timeout(10_000))) names.push(name);
  expect(names).toEqual(["entry", "lost", "entry", "end"]);
  expect(from).toEqual([undefined, "e1"]);
});

const READY_EVENT = 'event: ready\nid: 1\ndata: {"cursor":"1"}\n\n';

test("a stream whose reader breaks off is closed", async () => {
  let closed: (() => void) | undefined;
  const isClosed = new Promise<void>((resolve) => (closed = resolve));
  const client = await clientOf((_request, response) => {
    response.on("close", () => closed?.());
    response.writeHead(200, { "content-type": "text/event-stream" }).write(READY_EVENT);
  });
  for await (const { name } of client.changes(new AbortController().signal)) {
    expect(name).toBe("ready");
    break;
  }
  await isClosed;
});

test("a stream whose signal has aborted gives nothing more, also of what came at once", async () => {
  const entry = JSON.stringify({ kind: "emit", seq: 1, at: "2026-01-01T00:00:00.000Z", cut: false, value: 1 });
  const client = await clientOf((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: entry\ndata: ${entry}\n\n`.repeat(100));
  });
  const leaving = new AbortController();
  let seen = 0;
  for await (const { name } of client.logs("x", { limit: 3 }, leaving.signal)) {
    expect(name).toBe("entry");
    seen += 1;
    leaving.abort();
  }
  expect(seen).toBe(1);
});

test("a stream fell silent when nothing came, and not when its reader was busy for long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const pieces = new TransformStream<Uint8Array>();
  const writer = pieces.writable.getWriter();
  const write = (text: string) => void writer.write(new TextEncoder().encode(text)).catch(() => undefined);
  const wire = {
    url: "",
    async open(_path: string, _headers: object, signal: AbortSignal) {
      signal.addEventListener("abort", () => void writer.abort(signal.reason));
      return new Response(pieces.readable, { headers: { "content-type": "text/event-stream" } });
    },
  } as unknown as Wire;
  const stream = openStream(wire, trustingDecoder, { path: "/" }, new AbortController().signal);
  write(READY_EVENT);
  expect((await stream.next()).value).toHaveLength(1);
  vi.advanceTimersByTime(60_000);
  write(READY_EVENT);
  expect((await stream.next()).value).toHaveLength(1);
  const next = expect(stream.next()).rejects.toThrow("it fell silent");
  await vi.advanceTimersByTimeAsync(41_000);
  await next;
});

test("a stream whose head takes long did not fall silent: that is bounded by how long an answer may take", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const wire = {
    url: "",
    open: (_path: string, _headers: object, signal: AbortSignal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        const answer = new Response(READY_EVENT, { headers: { "content-type": "text/event-stream" } });
        setTimeout(() => resolve(answer), 60_000);
      }),
  } as unknown as Wire;
  const first = openStream(wire, trustingDecoder, { path: "/" }, new AbortController().signal).next();
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await first).value).toHaveLength(1);
});

test("a stream of which the refusal breaks off could not be reached, and is opened again where it had begun", async () => {
  let asked = 0;
  const client = await clientOf((request, response) => {
    asked += 1;
    if (asked === 2) response.writeHead(200, { "content-type": "text/event-stream" }).end(READY_EVENT);
    else if (asked === 4) response.writeHead(200, { "content-type": "text/event-stream" }).write(READY_EVENT);
    else
      response
        .writeHead(503, { "content-type": "application/problem+json", "content-length": 99 })
        .write("{", () => request.socket.destroy());
  });
  const told: string[] = [];
  const follow = async () => {
    for await (const { name } of client.changes(AbortSignal.timeout(10_000))) {
      told.push(name);
      if (told.length === 4) break;
    }
  };
  const failure = await follow().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CallError);
  expect(failure).toMatchObject({ kind: "unreachable", request: `GET ${client.url}/api/v1/events` });
  await follow();
  expect(told).toEqual(["ready", "lost", "lost", "ready"]);
});

test("a stream that a stopping manager ended before it said anything is opened again until it works", async () => {
  let asked = 0;
  const client = await clientOf((request, response) => {
    asked += 1;
    if (asked === 2) return void request.socket.destroy(); // nobody listens for a moment
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (asked === 1) response.end("retry: 1000\n\n");
    else response.write(READY_EVENT);
  });
  const told: string[] = [];
  for await (const { name } of client.changes(AbortSignal.timeout(10_000))) {
    told.push(name);
    if (name === "ready") break;
  }
  expect(told).toEqual(["lost", "lost", "ready"]);
});

test("a stream that broke before it said anything is opened again until it works; a first one that is refused is not", async () => {
  let asked = 0;
  const client = await clientOf((request, response) => {
    asked += 1;
    if (asked === 1) return void request.socket.destroy();
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (asked === 2) response.write(": here\n\n", () => request.socket.destroy());
    else response.write(READY_EVENT);
  });
  const told: string[] = [];
  const follow = async () => {
    for await (const { name } of client.changes(AbortSignal.timeout(10_000))) {
      told.push(name);
      if (name === "ready") break;
    }
  };
  await expect(follow()).rejects.toMatchObject({ kind: "unreachable" });
  expect(told).toEqual([]);
  await follow();
  expect(told).toEqual(["lost", "ready"]);
});

test("a stream goes on over a proxy that finds no manager, and tells it as lost", async () => {
  const from: unknown[] = [];
  const client = await clientOf((request, response) => {
    from.push(request.headers["last-event-id"]);
    if (from.length === 2) return void response.writeHead(502, { "content-type": "text/html" }).end("<p>");
    if (from.length === 3) return void response.writeHead(504).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (from.length === 1) response.end(READY_EVENT);
    else response.write(READY_EVENT);
  });
  const told: string[] = [];
  for await (const { name } of client.changes(AbortSignal.timeout(10_000))) {
    told.push(name);
    if (told.length === 5) break;
  }
  expect(told).toEqual(["ready", "lost", "lost", "lost", "ready"]);
  expect(from).toEqual([undefined, "1", "1", "1"]);
});

test.each([502, 504])("a call that is safe to repeat is made again where a proxy finds no manager: %i", async (status) => {
  let asked = 0;
  const client = await clientOf(
    (_request, response) => {
      asked += 1;
      if (asked === 1) response.writeHead(status, { "content-type": "text/html" }).end("<p>");
      else json(response, observerView());
    },
    { retries: 1 },
  );
  await client.call("getObserver", { path: { ref: "x" } });
  expect(asked).toBe(2);
});

test("A word of a newer manager, as a warning of a new kind, is passed on; another shape is refused as ever", async () => {
  const newer = {
    ...STATS,
    warnings: [...STATS.warnings, { code: "moon-full", subject: "tides", message: "m", remedy: "r" }],
  };
  const answers: unknown[] = [
    { ...newer, more: 1 },
    { ...newer, stateQueueLag: "none" },
    { ...STATS, warnings: [{ ...STATS.warnings[0], code: 7 }] },
    { ...STATS, oldestWaiting: { ...STATS.oldestWaiting, status: "Dreaming" } },
  ];
  const client = await clientOf((_request, response) => json(response, answers.shift()));
  expect((await client.call("getStats", {})).warnings.map(({ code }) => code)).toEqual(["no-free-worker", "moon-full"]);
  for (const _ of [1, 2, 3]) await expect(client.call("getStats", {})).rejects.toMatchObject({ kind: "misshapen" });
});

test("So is one in an answer to many, where one of them is refused by it, or stands by it", async () => {
  const answers: unknown[] = [
    { results: [{ ref: "x", status: 409, problem: { ...problemExample("already-deleted"), code: "moon-full" } }] },
    { results: [{ status: 201, task: { ...CREATED, waitsFor: "moon" } }] },
    { results: [{ status: 422, problem: { ...problemExample("unknown-type"), code: "moon-full" } }] },
    { results: [{ status: 422, problem: { ...problemExample("unknown-type"), code: 7 } }] },
    { results: [{ status: 201, task: { ...CREATED, status: "Dreaming" } }] },
  ];
  const client = await clientOf((_request, response) => json(response, answers.shift()));
  const stopped = await client.call("stopObservers", { body: { names: ["x"] } });
  expect(stopped).toMatchObject({ results: [{ ref: "x", problem: { code: "moon-full" } }] });
  const create = () => client.call("createTasks", { body: { tasks: [NEW_TASK] } });
  expect(await create()).toMatchObject({ results: [{ task: { waitsFor: "moon" } }] });
  expect(await create()).toMatchObject({ results: [{ problem: { code: "moon-full" } }] });
  for (const _ of [1, 2]) await expect(create()).rejects.toMatchObject({ kind: "misshapen" });
});

test("So is one in a refusal: what differs, and the role that is needed", async () => {
  const changed = { ...problemExample("spec-changed"), differs: [{ field: "tides", now: 1, given: 2 }] };
  const refusals: object[] = [
    { ...changed, code: "moon-full" },
    { ...problemExample("forbidden"), neededRole: "moonwalker" },
    { ...changed, differs: 5 },
  ];
  const client = await clientOf((_request, response) => json(response, refusals.shift(), 412, "application/problem+json"));
  const change = () => client.call("changeObserver", { path: { ref: "x" }, body: {} });
  await expect(change()).rejects.toMatchObject({
    code: "moon-full",
    problem: { differs: [{ field: "tides", now: 1, given: 2 }] },
  });
  await expect(change()).rejects.toMatchObject({ code: "forbidden", problem: { neededRole: "moonwalker" } });
  await expect(change()).rejects.toMatchObject({ kind: "not-unacked" });
});

test("a page of its manager's own version takes answers as they are, and problems by their code", async () => {
  const client = await clientOf((_request, response) => problem(response, "observer-not-found"));
  const trusting = new Client({ wire: new Wire({ url: client.url }), decoder: trustingDecoder });
  await expect(trusting.call("getObserver", { path: { ref: "x" } })).rejects.toMatchObject({ code: "observer-not-found" });
});

test.each([Number.POSITIVE_INFINITY, 30 * 86_400_000])("An answer may take as long as is said: %s ms", async (timeoutMs) => {
  const client = await clientOf((_request, response) => void setTimeout(() => json(response, observerView()), 50), {
    timeoutMs,
    retries: 0,
  });
  expect((await client.call("getObserver", { path: { ref: "x" } })).name).toBe(observerView().name);
});

test("A time limit that is no number is refused at once: it would be none", () => {
  expect(() => new Wire({ url: "http://127.0.0.1:9", timeoutMs: Number.NaN })).toThrow(/^timeoutMs is NaN/);
});

describe("a manager's address", () => {
  test.each([
    ["http://127.0.0.1:8080/", "http://127.0.0.1:8080"],
    ["https://unacked.example/below/", "https://unacked.example/below"],
    ["https://unacked.example/@below", "https://unacked.example/@below"],
  ])("%j is %j", (url, told) => {
    expect(new Wire({ url }).url).toBe(told);
  });

  test.each(["", "/below"])("is %j where there is a page that came from somewhere, or a fetch that knows", (url) => {
    expect(() => new Wire({ url })).toThrow(/^".*" is of where a page came from/);
    expect(new Wire({ url, fetch }).url).toBe(url);
    vi.stubGlobal("location", new URL("http://127.0.0.1:8080/observers"));
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(new Wire({ url }).url).toBe(url);
  });

  test.each(["127.0.0.1:8080", "localhost:8080", "http//127.0.0.1", "amqp://127.0.0.1"])(
    "is not %j, which is told at once",
    (url) => {
      expect(() => new Wire({ url })).toThrow(`"${url}" is no address of a manager: write it as http://127.0.0.1:8080`);
    },
  );

  test.each([
    ["http://bob:s3cret@127.0.0.1:8080", /may not hold a password/],
    ["http://s3cret@127.0.0.1:8080", /may not hold a password/],
    ["//bob:s3cret@127.0.0.1", /may not hold a password/],
    ["bob:s3cret@127.0.0.1", /^that is no address/],
    ["http://bob:s3?cret@127.0.0.1", /^that is no address/],
    ["http://127.0.0.1:8080?token=s3cret", /no query and no fragment/],
    ["http://127.0.0.1:8080/#s3cret", /no query and no fragment/],
  ])("holds nothing that no call could be made with, and it is not quoted: %j", (url, why) => {
    const act = () => new Wire({ url, fetch });
    expect(act).toThrow(why);
    expect(act).not.toThrow(/s3/);
  });
});

test("A token that no header can have is refused at once, and not quoted; white space around it does no harm", async () => {
  for (const token of ["a-secret\nline: ci operator", "a-secret\r\nx", "a-secret\0", "a-secret€"]) {
    const act = () => new Wire({ url: "http://127.0.0.1:9", token });
    expect(act).toThrow(/^the token is none/);
    expect(act).not.toThrow("a-secret");
  }
  for (const token of ["", "geheimniß"]) expect(() => new Wire({ url: "http://127.0.0.1:9", token })).not.toThrow();
  const { url } = await clientOf(({ headers }, response) =>
    json(response, { ...observerView(), name: headers.authorization }),
  );
  for (const token of ["a-secret\r\n", "\na-secret", "\ufeffa-secret", "a-secret\u2028"]) {
    const client = new Client({ wire: new Wire({ url, token }), decoder: contractDecoder, retries: 0 });
    expect(await client.call("getObserver", { path: { ref: "x" } })).toMatchObject({ name: "Bearer a-secret" });
  }
});
