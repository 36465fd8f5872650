import { getEventListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  CallError,
  Client,
  contractDecoder,
  flow,
  type OutputOf,
  TaskCancelled,
  TaskFailed,
  TaskNotOver,
  Wire,
} from "@unacked/client";
import { PROBLEMS, type ProblemCode, type TaskView } from "@unacked/contracts";
import { defineTask } from "@unacked/sdk";
import { afterEach, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  COMPLETED,
  CREATED,
  READY,
  TASK_CANCELLED,
  TASK_FAILED,
  TASK_ID,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-examples.ts";
import { TAKEN } from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-take-examples.ts";

const resize = defineTask({
  type: "resize",
  params: z.strictObject({ url: z.url(), width: z.int().default(320) }),
  output: z.object({ bytes: z.int(), cached: z.boolean().default(false) }),
  run: async () => ({ bytes: 1 }),
});
const loose = defineTask({ type: "loose", params: z.object({}), run: async () => undefined });

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

interface Asked {
  path: string;
  body: unknown;
  prefer: string | undefined;
}

/** A manager that answers in turn, the last answer again and again. */
async function managerOf(...answers: ((response: ServerResponse) => void)[]): Promise<{ client: Client; asked: Asked[] }> {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = "";
    for await (const piece of request) text += String(piece);
    asked.push({
      path: `${request.method} ${request.url}`,
      body: text === "" ? undefined : JSON.parse(text),
      prefer: request.headers["prefer"] as string | undefined,
    });
    (answers[asked.length - 1] ?? answers.at(-1))?.(response);
  };
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const wire = new Wire({ url: `http://127.0.0.1:${port}`, timeoutMs: 4_000 });
  return { client: new Client({ wire, decoder: contractDecoder, retries: 0 }), asked };
}

const json =
  (value: object, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
const cut = (response: ServerResponse) => void response.destroy();
const problem = (code: ProblemCode) => (response: ServerResponse) =>
  void response
    .writeHead(PROBLEMS[code].status, { "content-type": "application/problem+json" })
    .end(JSON.stringify({ ...PROBLEMS[code], type: "urn:x", detail: "of this case", code, requestId: "r" }));

const failureOf = (rejected: Promise<unknown>): Promise<unknown> =>
  rejected.then(
    () => expect.fail("it resolved"),
    (error) => error,
  );

test("A task is created by its definition's name, with an id of its own, and its result has the definition's type", async () => {
  const { client, asked } = await managerOf(json(CREATED, 201), json({ ...COMPLETED, output: { bytes: 7, cached: true } }));
  const task = await client.tasks.create(resize, { url: "https://a.example/" }, { key: "logo", priority: 5 });
  const { bytes, cached } = await task.result();
  expectTypeOf(bytes).toEqualTypeOf<number>();
  expectTypeOf(cached).toEqualTypeOf<boolean>();
  expect([task.id, task.outcome, bytes, cached]).toEqual([TASK_ID, "created", 7, true]);
  const { id } = (asked[0] as Asked).body as { id: string };
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(asked).toEqual([
    {
      path: "POST /api/v1/tasks",
      body: { id, type: "resize", params: { url: "https://a.example/" }, key: "logo", priority: 5 },
    },
    { path: `GET /api/v1/tasks/${TASK_ID}?wait=3s`, body: undefined },
  ]);
});

test("An id that is undefined is none: the client makes one, so that the create may be repeated", async () => {
  const { client, asked } = await managerOf(json(CREATED, 201), json({ results: [{ status: 201, task: CREATED }] }));
  await client.tasks.create(loose, {}, { id: undefined });
  await client.tasks.createMany(loose, [{ params: {}, id: undefined }]);
  const [one, many] = asked.map(({ body }) => body as { id?: string; tasks?: { id?: string }[] });
  for (const id of [one?.id, many?.tasks?.[0]?.id]) expect(id).toMatch(/^[0-9a-f-]{36}$/);
});

test("A create that fails tells the ids it was made with, so that it can be repeated, and there is one of each", async () => {
  const some = (count: number) => ({ results: Array.from({ length: count }, () => ({ status: 201, task: CREATED })) });
  const { client, asked } = await managerOf(json(some(1_000)), problem("not-ready"), cut);
  const many = await failureOf(
    client.tasks.createMany(
      loose,
      Array.from({ length: 1_001 }, () => ({ params: {} })),
    ),
  );
  const sent = asked.flatMap(({ body }) => (body as { tasks: { id: string }[] }).tasks.map(({ id }) => id));
  expect(many).toMatchObject({ code: "not-ready", ids: sent });
  expect(sent).toHaveLength(1_001);
  const one = await failureOf(client.tasks.create(loose, {}));
  expect(one).toMatchObject({ kind: "unreachable", ids: [((asked[2] as Asked).body as { id: string }).id] });
});

test("A create that its caller's signal ends tells the ids, too, and is known by the reason's name", async () => {
  const leaving = new AbortController();
  const leave = () => leaving.abort(new DOMException("enough", "TimeoutError"));
  const thousand = json({ results: Array.from({ length: 1_000 }, () => ({ status: 201, task: CREATED })) });
  const { client, asked } = await managerOf(thousand, thousand, leave, () => undefined);
  const params = Array.from({ length: 2_001 }, () => ({ params: {} }));
  const many = await failureOf(client.tasks.createMany(loose, params, leaving));
  const sent = asked.flatMap(({ body }) => (body as { tasks: { id: string }[] }).tasks.map(({ id }) => id));
  expect(many).toBeInstanceOf(CallError);
  expect(many).toMatchObject({ name: "TimeoutError", kind: "aborted", cause: leaving.signal.reason, ids: sent });
  expect(sent).toHaveLength(2_001);
  const request = `POST ${client.url}/api/v1/tasks`;
  const one = await failureOf(client.tasks.create(loose, {}, { id: TASK_ID, signal: AbortSignal.timeout(50) }));
  expect(one).toMatchObject({ name: "TimeoutError", kind: "aborted", ids: [TASK_ID], isPassing: false, request });
  const flowFailure = await failureOf(client.flows.create(flow([]), { id: "f", signal: AbortSignal.abort() }));
  expect(flowFailure).toMatchObject({ name: "AbortError", code: "aborted", ids: ["f"] });
});

test("What cannot be sent is refused before any of the others is", async () => {
  const { client, asked } = await managerOf(json({ results: [] }));
  const tasks = [...Array.from({ length: 1_001 }, () => ({ params: {} })), { params: { count: 1n } }];
  expect(await failureOf(client.tasks.createMany("loose", tasks))).toBeInstanceOf(TypeError);
  expect(asked).toEqual([]);
});

test("A signal that many calls and waits were given, as that of an app's end, keeps no trace of them", async () => {
  const { client } = await managerOf(json(COMPLETED));
  const { signal } = new AbortController();
  const askTwice = async (): Promise<void> => {
    await client.tasks.handle(TASK_ID).get(signal);
    await client.tasks.handle(TASK_ID).result({ signal });
  };
  // Node's own lists, of listeners and of what AbortSignal.any made of a signal, have no names to ask them by.
  const traces = (): number[] =>
    Object.getOwnPropertySymbols(signal).map((name) => (signal as unknown as Record<symbol, Set<unknown>>)[name]?.size ?? 0);
  await askTwice();
  const once = traces();
  await askTwice();
  expect(traces()).toEqual(once);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("A signal that many calls have at once has one listener for them all, and ends each", async () => {
  const { client } = await managerOf(() => undefined);
  const leaving = new AbortController();
  const calls = Array.from({ length: 20 }, () => failureOf(client.tasks.handle(TASK_ID).result({ signal: leaving.signal })));
  expect(getEventListeners(leaving.signal, "abort")).toHaveLength(1);
  const reason = new Error("the app ends");
  leaving.abort(reason);
  expect(await Promise.all(calls)).toEqual(calls.map(() => reason));
  expect(getEventListeners(leaving.signal, "abort")).toEqual([]);
});

test("The reason of the caller's own time limit is told, not the client's limit, which has not passed", async () => {
  const { client } = await managerOf(() => undefined);
  const failed = await failureOf(client.tasks.handle(TASK_ID).cancel(AbortSignal.timeout(50)));
  expect(failed).toMatchObject({ name: "TimeoutError" });
  expect(failed).not.toBeInstanceOf(CallError);
});

test("Types come from the definition alone, which a browser need not load", async () => {
  const { client } = await managerOf(json(CREATED, 201));
  const byName = await client.tasks.create<typeof resize>("resize", { url: "https://a.example/" });
  expectTypeOf(byName.result).returns.resolves.toEqualTypeOf<{ bytes: number; cached: boolean }>();
  expectTypeOf<OutputOf<typeof loose>>().toBeUnknown();
  expectTypeOf((await client.tasks.create("anything", [1, "two"])).result).returns.resolves.toBeUnknown();
  // Nothing is kept as null.
  const kinds = {
    maybe: { type: "maybe", output: z.string().optional() },
    nothing: { type: "nothing", output: z.void() },
    any: { type: "any", output: z.any() },
    never: { type: "never", output: z.never() },
    unknown: { type: "unknown", output: z.unknown() },
  };
  expectTypeOf<OutputOf<typeof kinds.maybe>>().toEqualTypeOf<string | null>();
  expectTypeOf<OutputOf<typeof kinds.nothing>>().toEqualTypeOf<null>();
  expectTypeOf<OutputOf<typeof kinds.any>>().toBeAny();
  expectTypeOf<OutputOf<typeof kinds.never>>().toBeNever();
  expectTypeOf<OutputOf<typeof kinds.unknown>>().toBeUnknown();
  type Taken = Awaited<ReturnType<typeof client.tasks.take<typeof kinds.maybe>>>[number];
  expectTypeOf<Taken["complete"]>().parameter(0).toEqualTypeOf<string | null | undefined>();
  // @ts-expect-error a wrong param
  await client.tasks.create(resize, { url: 7 });
  // @ts-expect-error a param is missing
  await client.tasks.create<typeof resize>("resize", {});
});

test("Its end is waited for over a manager's restart, whatever is in its place meanwhile", async () => {
  const badGateway = (response: ServerResponse) => void response.writeHead(502, { "content-type": "text/html" }).end("<p>");
  const { client, asked } = await managerOf(
    json({ ...READY, status: "Running", waitsFor: null } satisfies TaskView),
    cut,
    badGateway,
    problem("database-unavailable"),
    json({ ...COMPLETED, output: 1 }),
  );
  expect(await client.tasks.handle(TASK_ID).result()).toBe(1);
  expect(asked).toHaveLength(5);
});

test("A task that is Failed, or Cancelled, rejects with an error of that name, and with the last error", async () => {
  const { client } = await managerOf(json(TASK_FAILED), json(TASK_CANCELLED));
  const task = client.tasks.handle(TASK_ID);
  const failed = await failureOf(task.result());
  expect(failed).toBeInstanceOf(TaskFailed);
  expect(failed).toMatchObject({
    name: "TaskFailed",
    lastError: { name: "TypeError", message: "fetch failed" },
    message: `task ${TASK_ID} of the type resize is Failed: TypeError: fetch failed`,
  });
  const cancelled = await failureOf(task.result());
  expect(cancelled).toBeInstanceOf(TaskCancelled);
  expect(cancelled).toMatchObject({ name: "TaskCancelled", lastError: null, task: { status: "Cancelled" } });
});

test("Waiting ends with its time, with the signal's reason, and where it is no use", async () => {
  const { client, asked } = await managerOf(json(READY), json(READY), json(READY), problem("task-not-found"));
  const task = client.tasks.handle(TASK_ID);
  const late = await failureOf(task.result({ timeoutMs: 900 }));
  expect(late).toBeInstanceOf(TaskNotOver);
  expect(late).toMatchObject({ name: "TaskNotOver", task: { status: "Ready" } });
  expect(asked).toHaveLength(2); // looked at, then waited for: answered at once, and not asked again and again
  const leaving = new AbortController();
  setTimeout(() => leaving.abort(new Error("leaving")), 100);
  expect(await failureOf(task.result({ signal: leaving.signal }))).toMatchObject({ message: "leaving" });
  await failureOf(task.result({ timeoutMs: 100 }));
  const unknown = await failureOf(task.result());
  expect(unknown).toBeInstanceOf(CallError);
  expect(unknown).toMatchObject({ code: "task-not-found" });
  server?.closeAllConnections();
  server?.close();
  const away = await failureOf(task.result({ timeoutMs: 2_000 }));
  expect(away).toMatchObject({ name: "TaskNotOver", task: undefined, cause: { kind: "unreachable" } });
});

test("Who waits for less than a second is told how the task stands, or gets its result if it ends in that time", async () => {
  const { client, asked } = await managerOf(json(READY), () => undefined, json(READY), json({ ...COMPLETED, output: 1 }));
  const task = client.tasks.handle(TASK_ID);
  const late = await failureOf(task.result({ timeoutMs: 900 }));
  expect((late as Error).message).toBe(`task ${TASK_ID} is still Ready after 900 ms, and waits for: turn`);
  expect(asked.map(({ path }) => path.split("?")[1])).toEqual(["wait=0s", "wait=1s"]);
  expect(await task.result({ timeoutMs: 900 })).toBe(1);
});

test("Where no answer may take a second, nobody is asked to wait for one, and asked once a second at most", async () => {
  const { client: patient, asked } = await managerOf(
    json(READY),
    json({ ...COMPLETED, output: 1 }),
    json({ tasks: [] }),
    json(TAKEN),
  );
  const wire = new Wire({ url: patient.url, timeoutMs: 800 });
  const client = new Client({ wire, decoder: contractDecoder, retries: 0 });
  const beganMs = performance.now();
  expect(await client.tasks.handle(TASK_ID).result()).toBe(1);
  expect(await client.tasks.take(resize, { waitMs: 20_000 })).toHaveLength(1);
  expect(performance.now() - beganMs).toBeGreaterThan(1_950);
  const waits = asked.map(({ path, body }) => (body as { wait?: number } | undefined)?.wait ?? path.split("?")[1]);
  expect(waits).toEqual(["wait=0s", "wait=0s", 600, 600]);
});

test("Many are created in calls that are small enough, each answered for itself", async () => {
  const answer = (count: number) => json({ results: Array.from({ length: count }, () => ({ status: 201, task: CREATED })) });
  const { client: impatient, asked } = await managerOf(answer(1_000), answer(200), answer(2), answer(1));
  // Some megabytes take their time where the machine does much else.
  const wire = new Wire({ url: impatient.url, timeoutMs: 60_000 });
  const client = new Client({ wire, decoder: contractDecoder, retries: 0 });
  const many = Array.from({ length: 1_200 }, (_, i) => ({ params: { url: `https://a.example/${i}` } }));
  const results = await client.tasks.createMany(resize, many);
  expect(results).toHaveLength(1_200);
  const ids = asked.flatMap(({ body }) => (body as { tasks: { id: string }[] }).tasks.map(({ id }) => id));
  expect(new Set(ids).size).toBe(1_200);
  const large = { params: { url: `https://a.example/${"x".repeat(700_000)}` } };
  expect(await client.tasks.createMany(resize, [large, large, large])).toHaveLength(3);
  expect(asked.map(({ body }) => (body as { tasks: [] }).tasks.length)).toEqual([1_000, 200, 2, 1]);
});

test("Of many, receipts are enough; so is all of them, by a manager that knows of no receipts", async () => {
  const receipt = { status: 201, task: { id: TASK_ID, outcome: "exists" } };
  const whole = { status: 200, task: CREATED };
  const refusal = {
    status: 422,
    problem: { ...PROBLEMS["unknown-type"], type: "urn:x", detail: "", code: "unknown-type", requestId: "r" },
  };
  const { client, asked } = await managerOf(
    json({ results: [receipt, refusal, whole] }),
    json({ results: [{ status: 201 }] }),
  );
  const three = Array.from({ length: 3 }, () => ({ params: { url: "https://a.example/" } }));
  const results = await client.tasks.createMany(resize, three);
  expect(results.map((one) => ("task" in one ? [one.task.id, one.task.outcome] : one.problem.code))).toEqual([
    [TASK_ID, "exists"],
    "unknown-type",
    [CREATED.id, CREATED.outcome],
  ]);
  expect(asked.map(({ prefer }) => prefer)).toEqual(["return=minimal"]);
  expect(await failureOf(client.tasks.createMany(resize, three))).toMatchObject({ kind: "misshapen" });
});

test("A create that nobody answered is made again, as it has an id; a take is not", async () => {
  const { client, asked } = await managerOf(cut, json(CREATED, 201), cut);
  const patient = new Client({ wire: new Wire({ url: client.url }), decoder: contractDecoder, retries: 1 });
  await patient.tasks.create(resize, { url: "https://a.example/" });
  expect(asked[1]?.body).toEqual(asked[0]?.body);
  expect(await failureOf(patient.tasks.take(resize))).toMatchObject({ kind: "unreachable" });
  expect(await failureOf(patient.call("createTask", { body: { type: "t" } }))).toMatchObject({ kind: "unreachable" });
  expect(asked).toHaveLength(4);
});

test("What is taken is said to be done, failed or kept by its own send", async () => {
  const { client, asked } = await managerOf(
    json({ tasks: [] }),
    json(TAKEN),
    json({ leaseUntil: "2026-11-20T09:02:00.000Z" }),
    json(COMPLETED),
  );
  const [task] = await client.tasks.take(resize, { leaseMs: 5_000, count: 2, waitMs: 20_000 });
  if (task === undefined) expect.fail("none");
  expectTypeOf(task.params).toEqualTypeOf<{ url: string; width?: number | undefined }>();
  const { sendId } = TAKEN.tasks[0] as { sendId: string };
  expect(await task.extend(60_000)).toEqual(new Date("2026-11-20T09:02:00.000Z"));
  await task.complete({ bytes: 1, cached: false });
  await task.fail(new TypeError("half \uD83D"), { retryable: false });
  await task.release();
  await task.release({ inMs: 5_000, reason: "not yet" });
  await client.tasks.handle(TASK_ID).takeBack();
  const said = asked.map(({ path, body }) => [path.replace(TASK_ID, "ID"), body]);
  expect(said).toEqual([
    ["POST /api/v1/tasks/take", { types: ["resize"], leaseMs: 5_000, count: 2, wait: 3_000 }],
    ["POST /api/v1/tasks/take", { types: ["resize"], leaseMs: 5_000, count: 2, wait: 3_000 }],
    ["POST /api/v1/tasks/ID/extend", { sendId, leaseMs: 60_000 }],
    ["POST /api/v1/tasks/ID/complete", { sendId, output: { bytes: 1, cached: false } }],
    ["POST /api/v1/tasks/ID/fail", { sendId, error: { name: "TypeError", message: "half \uFFFD" }, retryable: false }],
    ["POST /api/v1/tasks/ID/release", { sendId }],
    ["POST /api/v1/tasks/ID/release", { sendId, inMs: 5_000, reason: "not yet" }],
    ["POST /api/v1/tasks/ID/take-back", undefined],
  ]);
});

const hostile = {
  get message(): string {
    throw new Error("not me");
  },
};

test.each<[string, unknown, { name: string; message: string }]>([
  [
    "what it was caused by",
    new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") }),
    { name: "TypeError", message: "fetch failed: connect ECONNREFUSED" },
  ],
  [
    "what a message says already",
    new Error("no: full", { cause: new Error("full") }),
    { name: "Error", message: "no: full" },
  ],
  [
    "the first of many",
    new AggregateError([new Error("one"), new Error("two")]),
    { name: "AggregateError", message: "one" },
  ],
  ["a text", "no such page", { name: "Error", message: "no such page" }],
  ["nothing", undefined, { name: "Error", message: "undefined" }],
  ["what has no text", Object.create(null), { name: "Error", message: "(it could not be read)" }],
  ["a symbol", Symbol("s"), { name: "Error", message: "Symbol(s)" }],
  ["what throws when it is read", hostile, { name: "Error", message: "(it could not be read)" }],
  ["a name that is none", Object.assign(new Error("no"), { name: 7 }), { name: "7", message: "no" }],
])("Whatever a task has failed of is told: %s", async (_, thrown, error) => {
  const { client, asked } = await managerOf(json(TAKEN), json(READY));
  const [task] = await client.tasks.take(loose);
  await task?.fail(thrown);
  expect(asked[1]?.body).toMatchObject({ error });
});
