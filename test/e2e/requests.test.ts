import { randomUUID } from "node:crypto";
import type { AuditPage, CreatedTask, ProblemDetails } from "@unacked/contracts";
import { connect } from "amqplib";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Reply, Requester } from "../support/broker/requester.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { REQUESTER, RequestSystem } from "../support/system/requests.ts";

/* docs/decisions/0013-creation-over-amqp.md, with the users of deploy/rabbitmq-definitions.json on a real broker. */

const USERS = {
  "unacked-requester": REQUESTER,
  looker: { ...REQUESTER, role: "viewer" },
  hasty: { ...REQUESTER, perMinute: 30 },
  outsider: { role: "operator", types: ["*"], pools: ["*"] },
  wide: { ...REQUESTER, types: Array.from({ length: 300 }, (_, i) => `${"t".repeat(50)}-${i}`) },
};

let amqp: RequestSystem;
let requester: Requester;

beforeAll(async () => {
  amqp = await RequestSystem.start();
  await amqp.startManager(USERS);
  await amqp.startWorker();
  requester = await amqp.requester();
});
afterAll(() => amqp.close());

const tasksOf = ({ body }: Reply): CreatedTask[] =>
  body.results.map((result) => ("task" in result ? result.task : expect.fail(JSON.stringify(result))));
const problemsOf = ({ body }: Reply): (ProblemDetails | undefined)[] =>
  body.results.map((result) => ("problem" in result ? result.problem : undefined));
const countTasks = async (): Promise<number> => (await amqp.tasks.list("limit=1")).total;
const queueIsEmpty = () =>
  eventually(async () => expect((await amqp.system.management.queue("unacked.request")).total).toBe(0), {
    what: "an empty queue of requests",
    timeoutMs: 20_000,
  });

test("A program outside creates tasks, is answered as by REST, and they run", async () => {
  const reply = await requester.ask(
    { tasks: [amqp.work({ answer: 7 }), amqp.work({}, { priority: 5, maxAttempts: 2 })] },
    { correlationId: "mine" },
  );
  expect(reply).toMatchObject({ status: 200, type: "TaskBatchResults", correlationId: "mine" });
  expect(reply.body.results.map(({ status }) => status)).toEqual([201, 201]);
  const [first, second] = tasksOf(reply);
  expect(second).toMatchObject({ outcome: "created", priority: 5, maxAttempts: 2 });
  expect(await amqp.tasks.get(first?.id ?? "", "20s")).toMatchObject({
    status: "Completed",
    output: { answer: 7, attempt: 1 },
  });
});

test("Who asks for a key that somebody's open transaction has is told so, and nobody else waits for it", async () => {
  const shop = new pg.Client({ connectionString: amqp.system.env.DATABASE_URL });
  await shop.connect();
  await shop.query("BEGIN");
  await shop.query("SELECT unacked_create_task('work', '{}', key => 'open')");
  const body = { tasks: [amqp.work({}, { key: "open" }), amqp.work()] };
  const messageId = randomUUID();
  const [held, other] = await Promise.all([
    requester.ask(body, { messageId }),
    requester.ask({ tasks: [amqp.work({}, { key: "another" })] }),
  ]);
  expect(problemsOf(held)).toMatchObject([
    { status: 503, detail: expect.stringMatching(/has not ended has the key "open".*under another message-id/) },
    undefined,
  ]);
  expect(tasksOf(other)).toMatchObject([{ key: "another", outcome: "created" }]);
  await shop.query("ROLLBACK");
  await shop.end();
  expect((await requester.ask(body, { messageId })).text).toBe(held.text);
  expect(tasksOf(await requester.ask({ tasks: [amqp.work({}, { key: "open" })] }))).toMatchObject([{ outcome: "created" }]);
});

test("Of many in one request the one with a time that nothing can hold is refused, and the others are created", async () => {
  const startAt = (time: string) => amqp.work({}, { startAt: time });
  for (const time of ["9999-12-31T23:59:59-05:00", "2030-01-01T00:00:00+23:59"]) {
    const reply = await requester.ask({ tasks: [startAt("2020-01-01T00:00:00Z"), startAt(time)] });
    expect(reply.body.results.map(({ status }) => status)).toEqual([201, 422]);
  }
  await amqp.tasks.untilAllOver();
});

test("The same message-id twice creates once, and is answered with the same bytes, also when all has changed since", async () => {
  const body = { tasks: [amqp.work(), amqp.work({}, { key: "only" }), amqp.work({}, { key: "only" })] };
  const messageId = randomUUID();
  const first = await requester.ask(body, { messageId });
  expect(problemsOf(first)[2]).toMatchObject({ code: "key-taken", requestId: messageId });
  await amqp.tasks.untilAllOver();
  const total = await countTasks();
  const again = await requester.ask(body, { messageId });
  expect(again.text).toBe(first.text);
  // Both in one batch, too.
  const other = randomUUID();
  await Promise.all([1, 2, 3].map(() => requester.publish({ tasks: [amqp.work()] }, { messageId: other })));
  const answers = await Promise.all([1, 2, 3].map((nth) => requester.reply(other, nth)));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(await countTasks()).toBe(total + 1);
});

test("A message-id with another body is refused, and one of another user is another request", async () => {
  const messageId = randomUUID();
  const first = await requester.ask({ tasks: [amqp.work()] }, { messageId });
  const [mine] = tasksOf(first);
  expect(await requester.ask({ tasks: [amqp.work({ answer: 1 })] }, { messageId })).toMatchObject({
    status: 409,
    type: "Problem",
    body: { code: "id-taken" },
  });
  const outsider = await amqp.requester("outsider");
  const [theirs] = tasksOf(await outsider.ask({ tasks: [amqp.work()] }, { messageId }));
  expect(theirs?.id).not.toBe(mine?.id);
});

test("What queue-latest did is not done again: newer params stay", async () => {
  const body = (answer: number) => ({
    tasks: [amqp.work({ answer, ms: answer === 1 ? 15_000 : 50 }, { key: "latest", onConflict: "queue-latest" })],
  });
  const ask = (answer: number, messageId: string) => requester.ask(body(answer), { messageId });
  const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
  const [task] = tasksOf(await ask(1, ids[0]));
  await amqp.tasks.untilStatus(task?.id ?? "", "Running");
  expect(tasksOf(await ask(2, ids[1]))[0]?.outcome).toBe("queued");
  expect(tasksOf(await ask(3, ids[2]))[0]?.outcome).toBe("queued");
  await requester.publish(body(2), { messageId: ids[1] });
  await requester.reply(ids[1], 2);
  expect(await amqp.tasks.get(task?.id ?? "", "40s")).toMatchObject({ status: "Completed", output: { answer: 3 } });
});

test("Of a task in a pool that it may not have a user learns and changes nothing, by its key or its id", async () => {
  const hidden = { type: "work", pool: "secret", params: { answer: 987_654_321 }, key: "of-others" };
  const { body } = await amqp.tasks.createAny(hidden);
  const { id } = body as CreatedTask;
  const reply = await requester.ask({
    tasks: [
      ...["reject", "return", "replace", "queue-latest"].map((onConflict) =>
        amqp.work({ answer: 1 }, { key: "of-others", onConflict }),
      ),
      amqp.work({ answer: 1 }, { key: "of-others", id }),
    ],
  });
  expect(reply.body.results.map(({ status }) => status)).toEqual([403, 403, 403, 403, 409]);
  expect(problemsOf(reply).map((problem) => problem?.code)).toEqual([...Array<string>(4).fill("forbidden"), "id-taken"]);
  expect(JSON.stringify(reply.body.results.slice(0, 4))).not.toContain(id);
  expect(JSON.stringify(reply.body)).not.toContain("987654321");
  expect(await amqp.tasks.get(id)).toMatchObject({ pool: "secret", params: { answer: 987_654_321 }, runsAgain: false });
  const outsider = await amqp.requester("outsider");
  const [returned] = tasksOf(
    await outsider.ask({ tasks: [amqp.work({ answer: 1 }, { key: "of-others", onConflict: "return" })] }),
  );
  expect(returned).toMatchObject({ id, outcome: "returned" });
  expect((await amqp.system.call("DELETE", `/api/v1/tasks/${id}`)).status).toBeLessThan(300);
});

test("Each of a batch is answered for itself: not allowed, unknown, wrong, and good", async () => {
  const refused = await requester.ask({
    tasks: [
      { type: "resize" },
      amqp.work({}, { pool: "other" }),
      { type: "work", params: { dir: 5 } },
      { type: "work", params: {}, priority: 5_000 },
      amqp.work(),
    ],
  });
  expect(refused.body.results.map(({ status }) => status)).toEqual([403, 403, 422, 422, 201]);
  const [type, pool, params, priority] = problemsOf(refused);
  expect(type).toMatchObject({
    code: "forbidden",
    detail: expect.stringMatching(/type "resize": REQUEST_USERS gives it work, slow/),
  });
  expect(pool).toMatchObject({ code: "forbidden", detail: expect.stringMatching(/pool "other".*default/) });
  const over = async (body: object) => (await amqp.tasks.createAny(body)).body as ProblemDetails;
  expect(params?.errors).toEqual((await over({ type: "work", params: { dir: 5 } })).errors);
  expect(priority?.errors).toEqual((await over({ type: "work", params: {}, priority: 5_000 })).errors);
  const outsider = await amqp.requester("outsider");
  expect(problemsOf(await outsider.ask({ tasks: [{ type: "resize" }] }))[0]).toMatchObject({
    code: "unknown-type",
    knownTypes: ["slow", "work"],
  });
});

test("A viewer may not, whoever has no message-id is told so, and who is over the rate hears when to come back", async () => {
  const looker = await amqp.requester("looker");
  expect(await looker.ask({ tasks: [amqp.work()] })).toMatchObject({
    status: 403,
    body: { code: "forbidden", neededRole: "operator" },
  });
  const nameless = requester.publish({ tasks: [amqp.work()] }, { messageId: "with blanks", correlationId: "nameless" });
  await nameless;
  expect(await requester.reply("nameless")).toMatchObject({ status: 400, body: { code: "malformed-request" } });

  const hasty = await amqp.requester("hasty");
  const total = await countTasks();
  const ids = Array.from({ length: 9 }, () => randomUUID());
  await hasty.publishMany(
    ids.map(() => ({ tasks: [amqp.work()] })),
    ids,
  );
  const answers = await Promise.all(ids.map((id) => hasty.reply(id)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
  // One more may come every 2 s: where the machine stands still for as long, not all others are too many.
  expect(statuses).toContain(429);
  const refusedAt = statuses.indexOf(429);
  expect([200, 429]).toEqual(expect.arrayContaining(statuses));
  const wait = answers[refusedAt]?.body.retryAfterS ?? 0;
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(2);
  expect(await countTasks()).toBe(total + statuses.filter((status) => status === 200).length);
  // Nothing was decided of it: the same message-id may ask again.
  await eventually(
    async () =>
      expect(await hasty.ask({ tasks: [amqp.work()] }, { messageId: ids[refusedAt] as string })).toMatchObject({
        status: 200,
      }),
    { timeoutMs: 20_000 },
  );
});

test("Without a user-id, of an unknown user, or for another's queue, nothing is created or sent: it goes to the errors", async () => {
  const total = await countTasks();
  const stranger = await amqp.requester("stranger");
  const victim = await amqp.requester("outsider");
  const body = { tasks: [amqp.work()] };
  await requester.publish(body, { userId: undefined as never });
  await stranger.publish(body);
  await requester.publish(body, { replyTo: victim.replyTo });
  await requester.publish(body, { replyTo: "unacked.work.default" });
  const found = await eventually(async () => {
    const errors = (await amqp.errors()).filter(({ queue }) => queue === "unacked.request");
    expect(errors.map(({ reason }) => reason)).toEqual(Array(4).fill("unreadable"));
    return errors;
  });
  const details = found.map(({ detail }) => detail).join("\n");
  expect(details).toContain("it has no user-id");
  expect(details).toContain('REQUEST_USERS does not name the user "stranger"');
  expect(details).toContain('reply-to has to begin with "unacked-requester."');
  expect(await countTasks()).toBe(total);
  expect([...victim.replies, ...stranger.replies]).toEqual([]);
});

test("The broker itself refuses a user-id that is not the connection's own", async () => {
  const model = await connect(amqp.rights.requesterUrl);
  model.on("error", () => undefined);
  const channel = await model.createConfirmChannel();
  const refused = new Promise<string>((resolve) => channel.once("error", (error: Error) => resolve(error.message)));
  channel.publish("unacked.requests", "tasks", Buffer.from("{}"), { userId: "outsider" });
  expect(await refused).toContain("PRECONDITION_FAILED - user_id property set to 'outsider' but authenticated user was");
  await model.close();
});

test("Who asks without a reply-to is not answered, and what was asked is done", async () => {
  const total = await countTasks();
  const count = requester.replies.length;
  await requester.publish({ tasks: [amqp.work()] }, { replyTo: undefined as never });
  await eventually(async () => expect(await countTasks()).toBe(total + 1));
  await queueIsEmpty();
  expect(requester.replies.length).toBe(count);
});

test("What is refused of a request without a reply-to, or all of it, goes to the errors, and is counted", async () => {
  const ofUser = { user: "unacked-requester" };
  const counts = async () => {
    const metrics = await scrape(amqp.system.url);
    const count = (outcome: string) => metrics.value("unacked_manager_requested_items_total", { ...ofUser, outcome }) ?? 0;
    return [count("accepted"), count("refused")];
  };
  const [accepted = 0, refused = 0] = await counts();
  const publish = (messageId: string, ...tasks: object[]) =>
    requester.publish({ tasks }, { messageId, replyTo: undefined as never });
  const [partly, otherwise] = [randomUUID(), randomUUID()];
  await publish(partly, amqp.work(), { type: "resize" }, { type: "paint" });
  await publish(otherwise, amqp.work());
  await publish(otherwise, amqp.work({ answer: 1 }));
  const detailOf = (messageId: string) =>
    eventually(async () => {
      const errors = (await amqp.errors()).filter(({ detail }) => detail.includes(messageId));
      expect(errors).toHaveLength(1);
      return errors[0]?.detail;
    });
  expect(await detailOf(partly)).toMatch(/: 2 of 3 were refused; \/1: forbidden: .*"resize".*; \/2: forbidden: .*"paint"/);
  expect(await detailOf(otherwise)).toContain(`The message-id ${otherwise} was that of a request with another body`);
  expect(await counts()).toEqual([accepted + 2, refused + 2]);
});

test("An answer that no queue takes holds up nobody, and is given to who asks again", async () => {
  const body = { tasks: [amqp.work()] };
  const messageId = await requester.publish(body, { replyTo: "unacked-requester.nowhere" });
  await queueIsEmpty();
  const total = await countTasks();
  expect(await requester.ask(body, { messageId })).toMatchObject({ status: 200 });
  expect(await countTasks()).toBe(total);
  const metrics = await scrape(amqp.system.url);
  expect(
    metrics.value("unacked_manager_request_replies_undelivered_total", { user: "unacked-requester" }),
  ).toBeGreaterThanOrEqual(1);
});

test("The audit trail says which user of the broker asked, and the metrics by user what became of it", async () => {
  const messageId = randomUUID();
  const tasks = tasksOf(await requester.ask({ tasks: [amqp.work(), amqp.work()] }, { messageId }));
  const { body } = await amqp.system.call<AuditPage>("GET", `/api/v1/audit?requestId=${messageId}`);
  expect(body.items).toHaveLength(1);
  expect(body.items[0]).toMatchObject({
    action: "task.create",
    count: 2,
    actor: { name: "unacked-requester", role: "operator", authentication: "broker", address: "unacked.requests" },
    targets: tasks.map(({ id }) => ({ kind: "task", id })),
  });
  const metrics = await scrape(amqp.system.url);
  const count = (user: string, outcome: string) => metrics.value("unacked_manager_requests_total", { user, outcome });
  expect(count("unacked-requester", "done")).toBeGreaterThan(5);
  expect(count("unacked-requester", "repeated")).toBeGreaterThan(2);
  expect(count("looker", "refused")).toBe(1);
  expect(count("hasty", "too-many")).toBeGreaterThanOrEqual(1);
  expect(count("(others)", "unanswerable")).toBe(2);
  expect(metrics.value("unacked_manager_errors_total", { reason: "unreadable" })).toBe(6);
  await eventually(async () => expect((await scrape(amqp.system.url)).value("unacked_requests_waiting")).toBe(0));
});

const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
/** Each of them once; the last word says what comes back. */
const ODD: [name: string, body: string | Buffer | object, status: number][] = [
  ["nothing", Buffer.alloc(0), 400],
  ["no JSON", "this is not JSON", 400],
  ["half of it", '{"tasks":[', 400],
  ["bytes", Buffer.from([0xff, 0xfe, 0x00, 0x01]), 400],
  ["a NUL", "\0", 400],
  ["two values", "{}{}", 400],
  ["deep", DEEP, 422],
  ["null", "null", 422],
  ["a text", '"tasks"', 422],
  ["a number", "1e999", 422],
  ["a list", "[]", 422],
  ["no tasks", {}, 422],
  ["an empty list", { tasks: [] }, 422],
  ["tasks of another kind", { tasks: "all" }, 422],
  ["another field", { tasks: [{ type: "work" }], atomic: true }, 422],
  ["too many", { tasks: Array.from({ length: 1_001 }, () => ({ type: "work" })) }, 413],
  ["far too many", { tasks: Array.from({ length: 20_000 }, () => 0) }, 422],
  ["too large", Buffer.alloc(1_048_577, "x"), 413],
  ["huge", Buffer.alloc(12_000_000, "["), 413],
  ["proto", '{"__proto__":{"tasks":[]}}', 422],
];
/** Each as the one task of a request: answered 200, with a problem for it. */
const ODD_TASKS: [name: string, task: string][] = [
  ["null", "null"],
  ["a number", "5"],
  ["a list", "[]"],
  ["nothing", "{}"],
  ["type of another kind", '{"type":7}'],
  ["an empty type", '{"type":""}'],
  ["a type with NUL", '{"type":"wo\\u0000rk"}'],
  ["a long type", `{"type":"${"a".repeat(10_000)}"}`],
  ["params with NUL", '{"type":"work","params":{"dir":"\\u0000"}}'],
  ["a key of params with NUL", '{"type":"work","params":{"\\u0000":1}}'],
  ["half a pair", '{"type":"work","params":{"dir":"\\ud800"}}'],
  ["an infinite number", '{"type":"work","params":{"dir":"","answer":1e400}}'],
  ["proto in params", '{"type":"work","params":{"__proto__":1}}'],
  ["deep params", `{"type":"work","params":{"dir":"","answer":${"[".repeat(5_000)}${"]".repeat(5_000)}}}`],
  ["params of another kind", '{"type":"work","params":"dir"}'],
  ["no params", '{"type":"work"}'],
  ["another field", '{"type":"work","params":{"dir":""},"now":true}'],
  ["an id that is none", '{"type":"work","params":{"dir":""},"id":"7"}'],
  ["a pool that is none", '{"type":"work","params":{"dir":""},"pool":"a b"}'],
  ["a large priority", '{"type":"work","params":{"dir":""},"priority":1e308}'],
  ["a broken priority", '{"type":"work","params":{"dir":""},"priority":0.5}'],
  ["a time that is none", '{"type":"work","params":{"dir":""},"startAt":"tomorrow"}'],
  ["a time out of range", '{"type":"work","params":{"dir":""},"startAt":"+275760-09-13T00:00:01Z"}'],
  ["attempts below one", '{"type":"work","params":{"dir":""},"maxAttempts":0}'],
  ["many attempts", '{"type":"work","params":{"dir":""},"maxAttempts":9007199254740993}'],
  ["an empty key", '{"type":"work","params":{"dir":""},"key":""}'],
  ["a long key", `{"type":"work","params":{"dir":""},"key":"${"k".repeat(300)}"}`],
  ["a key with NUL", '{"type":"work","params":{"dir":""},"key":"\\u0000"}'],
  ["a conflict that is none", '{"type":"work","params":{"dir":""},"onConflict":"win"}'],
  ["large params", `{"type":"work","params":{"dir":"${"d".repeat(300_000)}"}}`],
  ["a parent", '{"type":"work","params":{"dir":""},"parentId":"00000000-0000-7000-8000-000000000000"}'],
];

test("Odd messages are answered one by one, hold up nobody, and leave the manager ready", async () => {
  const total = await countTasks();
  const good: string[] = [];
  const asked: [string, string, number, boolean][] = [];
  for (const [name, body, status] of ODD) asked.push([name, await requester.publish(body), status, false]);
  for (const [name, task] of ODD_TASKS) {
    asked.push([name, await requester.publish(`{"tasks":[${task}]}`), 200, true]);
    if (good.length < 5) good.push(await requester.publish({ tasks: [amqp.work()] }));
  }
  for (const properties of [
    { messageId: "\u00e9" },
    { messageId: "m".repeat(200) },
    { correlationId: "c".repeat(255) },
    { headers: { a: { b: [1, { c: null }] }, big: 9_007_199_254_740_991, no: false } },
    {
      contentType: "text/plain",
      contentEncoding: "gzip",
      priority: 9,
      type: "x",
      appId: "y",
      timestamp: 253_402_300_800_000,
    },
    { expiration: "60000", messageId: "m".repeat(128) },
  ])
    await requester.publish("{}", properties);
  for (const [name, id, status, isOfTask] of asked) {
    const reply = await requester.reply(id);
    expect([name, reply.status]).toEqual([name, status]);
    if (isOfTask) expect([name, problemsOf(reply)[0]?.status]).toEqual([name, expect.any(Number)]);
  }
  for (const id of good) expect((await requester.reply(id)).body.results[0]?.status).toBe(201);
  await queueIsEmpty();
  expect((await amqp.system.call("GET", "/readyz")).status).toBe(200);
  expect(await countTasks()).toBe(total + good.length);
  process.stdout.write(`${asked.length + 6} odd requests, each answered; ${good.length} good ones between them created\n`);
});

test("Headers that are nested as deep as a message may have them hold up nobody, and are not looked at", async () => {
  const deep = await requester.publish({ tasks: [amqp.work()] }, { headers: requester.deepHeaders(12_000) });
  const next = await requester.publish({ tasks: [amqp.work()] }, { headers: { trace: "x".repeat(8_000) } });
  for (const id of [deep, next]) expect((await requester.reply(id)).body.results[0]?.status).toBe(201);
  await queueIsEmpty();
});

test("What would take more than a message may have is answered in short", async () => {
  const params = `{"dir":"${amqp.tasks.dir}","answer":[${"1e20,".repeat(190_000)}1]}`;
  const reply = await requester.ask(`{"tasks":[${'{"type":"x"},'.repeat(900)}{"type":"work","params":{}}]}`);
  expect(reply.body.results).toHaveLength(901);
  expect(reply.text.length).toBeLessThan(4_500_000);
  const wide = await amqp.requester("wide");
  const refused = await wide.ask(`{"tasks":[${Array(1_000).fill('{"type":"x"}').join()}]}`);
  expect(refused.body.results).toHaveLength(1_000);
  expect(refused.text.length).toBeLessThan(4_500_000);
  // 262,144 bytes of params are the most for one task.
  expect(problemsOf(await requester.ask(`{"tasks":[{"type":"work","params":${params}}]}`))[0]).toMatchObject({
    code: "body-too-large",
  });
});

test.runIf(isTurnOf(1))("Many requests go through in order, and large ones at once", async () => {
  const later = amqp.work({}, { startAt: "2100-01-01T00:00:00Z" });
  const untilAnswered = (ids: string[]) =>
    eventually(
      () => {
        const answered = new Set(requester.replies.map(({ correlationId }) => correlationId));
        expect(ids.filter((id) => !answered.has(id)).length).toBe(0);
      },
      { timeoutMs: 60_000 },
    );
  let before = performance.now();
  const ids = await requester.publishMany(Array.from({ length: 2_000 }, () => ({ tasks: [later] })));
  await untilAnswered(ids);
  const singles = Math.round(2_000 / ((performance.now() - before) / 1_000));
  const order = requester.replies.map(({ correlationId }) => correlationId).filter((id) => ids.includes(id));
  expect(order).toEqual(ids);
  const [kept] = await queryRows<{ count: number; bytes: number }>(
    amqp.system.env.DATABASE_URL as string,
    "SELECT count(*)::int AS count, pg_total_relation_size('task_requests')::int AS bytes FROM task_requests",
  );
  before = performance.now();
  const large = { tasks: Array.from({ length: 1_000 }, () => later) };
  await untilAnswered(await requester.publishMany(Array.from({ length: 20 }, () => large)));
  const together = Math.round(20_000 / ((performance.now() - before) / 1_000));
  process.stdout.write(
    `2,000 requests of one task: ${singles} a second; 20 of 1,000: ${together} tasks a second, answered\n`,
  );
  if (kept) process.stdout.write(`a request that is remembered takes ${Math.round(kept.bytes / kept.count)} bytes\n`);
});
