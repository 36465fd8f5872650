import { randomUUID } from "node:crypto";
import type { AuditPage, ProblemDetails, TimerBatchResults, TimerCancelResults, TimerView } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Reply, Requester } from "../support/broker/requester.ts";
import { TimerListener } from "../support/broker/timer-listener.ts";
import { eventually } from "../support/eventually.ts";
import { diesAt } from "../support/processes/crash-point.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { REQUESTER, RequestSystem } from "../support/system/requests.ts";

/* docs/decisions/0013-creation-over-amqp.md, of timers, with the users of deploy/rabbitmq-definitions.json on a real broker. */

const USERS = {
  "unacked-requester": REQUESTER,
  shop: { role: "operator", timers: ["shop.", "shared."] },
  every: { role: "operator", timers: ["*"] },
  hasty: { role: "operator", timers: ["*"], perMinute: 30 },
  looker: { role: "viewer", timers: ["*"] },
  tasker: { role: "operator", types: ["*"], pools: ["*"] },
};

let amqp: RequestSystem;
let requester: Requester;

beforeAll(async () => {
  amqp = await RequestSystem.start();
  await amqp.startManager(USERS);
  requester = await amqp.requester();
});
afterAll(() => amqp.close());

type Results = (TimerBatchResults | TimerCancelResults)["results"];
const ask = (who: Requester, body: object, messageId: string = randomUUID()) => who.ask(body, { key: "timers", messageId });
const resultsOf = ({ body }: Reply) => body.results as unknown as Results;
const told = (reply: Reply) =>
  resultsOf(reply).map((one) =>
    "problem" in one ? one.problem.code : "outcome" in one.timer ? one.timer.outcome : one.timer.status,
  );
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const timer = (more: object = {}) => ({ id: randomUUID(), at: inMs(3_600_000), name: "unacked-requester.t", ...more });
const find = async (id: string) =>
  (
    await amqp.system.call<Omit<TimerView, "status"> & Pick<ProblemDetails, "code"> & { status: string | number }>(
      "GET",
      `/api/v1/timers/${id}`,
    )
  ).body;

test("A program outside sets a timer, is told that it is created, and hears it by its own binding", async () => {
  const key = "unacked-requester.#";
  const queue = `unacked.timers.unacked-requester.${randomUUID()}`;
  const listener = await TimerListener.listen(amqp.rights.requesterUrl, key, queue);
  const one = timer({ at: inMs(1_000), payload: { cart: 4711 } });
  const reply = await ask(requester, { timers: [one] });
  expect(reply).toMatchObject({ status: 200, type: "TimerBatchResults" });
  expect(resultsOf(reply)).toMatchObject([{ status: 201, timer: { id: one.id, outcome: "created", status: "Waiting" } }]);
  await eventually(() => expect(listener.of(one.id)).toMatchObject([{ name: one.name, payload: { cart: 4711 } }]));
  await eventually(async () => expect(await find(one.id)).toMatchObject({ status: "Fired" }));
  expect(told(await ask(requester, { timers: [one] }))).toEqual(["timer-over"]);
  const cancelled = await ask(requester, { cancelTimers: [one.id] });
  expect(cancelled.type).toBe("TimerCancelResults");
  expect(told(cancelled)).toEqual(["already-fired"]);
  await listener.close();
});

test("Each of a batch is answered for itself, the same again as it was, and what is cancelled never fires", async () => {
  const [a, b] = [timer(), timer()];
  const first = randomUUID();
  const created = await ask(
    requester,
    { timers: [a, b, { ...a }, timer({ name: "other.t" }), timer({ at: "soon" })] },
    first,
  );
  expect(told(created)).toEqual(["created", "created", "invalid-body", "forbidden", "invalid-body"]);
  expect(told(await ask(requester, { timers: [a, { ...b, payload: 2 }, timer()] }))).toEqual([
    "exists",
    "replaced",
    "created",
  ]);
  const cancels = randomUUID();
  const nobodys = randomUUID();
  const cancelled = await ask(requester, { cancelTimers: [a.id, nobodys, "no id", a.id] }, cancels);
  expect(told(cancelled)).toEqual(["Cancelled", "timer-not-found", "invalid-body", "invalid-body"]);
  expect(told(await ask(requester, { cancelTimers: [a.id] }))).toEqual(["Cancelled"]);
  expect(await find(a.id)).toMatchObject({ status: "Cancelled" });
  expect(await find(b.id)).toMatchObject({ status: "Waiting", payload: 2 });
  // What was decided is said again, whatever has become of it since.
  expect((await ask(requester, { timers: [a, b, { ...a }] }, first)).body.code).toBe("id-taken");
  expect((await requester.reply(first)).text).toBe(created.text);
  expect((await ask(requester, { cancelTimers: [a.id, nobodys, "no id", a.id] }, cancels)).text).toBe(cancelled.text);
  const audit = async (id: string) => (await amqp.system.call<AuditPage>("GET", `/api/v1/audit?requestId=${id}`)).body.items;
  const actor = { name: "unacked-requester", role: "operator", authentication: "broker" };
  expect(await audit(first)).toMatchObject([{ action: "timer.create", count: 2, actor }]);
  expect(await audit(cancels)).toMatchObject([
    { action: "timer.cancel", count: 1, actor, targets: [{ kind: "timer", id: a.id, name: a.name }] },
  ]);
});

test("Nobody sets, moves or cancels a timer of a name that is not theirs", async () => {
  const [shop, every, tasker, looker] = (await Promise.all(
    ["shop", "every", "tasker", "looker"].map((user) => amqp.requester(user)),
  )) as [Requester, Requester, Requester, Requester];
  const theirs = timer({ name: "billing.due" });
  const shared = timer({ name: "shared.one" });
  expect(told(await ask(every, { timers: [theirs, shared] }))).toEqual(["created", "created"]);
  // Under its own name, and the id of others' timer: that would take it away from them.
  const reply = await ask(shop, {
    timers: [
      { ...theirs, name: "shop.x" },
      { ...theirs, id: randomUUID() },
      { ...shared, name: "shop.y" },
      timer({ name: "shop" }),
    ],
  });
  expect(told(reply)).toEqual(["id-taken", "forbidden", "replaced", "forbidden"]);
  expect(resultsOf(reply)[1]).toMatchObject({
    problem: {
      status: 403,
      detail: expect.stringMatching(/"billing.due": REQUEST_USERS gives it names that begin with shop\., shared\./),
    },
  });
  expect(told(await ask(shop, { cancelTimers: [theirs.id, shared.id] }))).toEqual(["timer-not-found", "Cancelled"]);
  expect(await find(theirs.id)).toMatchObject({ status: "Waiting", name: "billing.due" });
  expect(told(await ask(tasker, { timers: [timer()] }))).toEqual(["forbidden"]);
  expect(told(await ask(tasker, { cancelTimers: [theirs.id] }))).toEqual(["forbidden"]);
  expect(told(await ask(shop, { tasks: [{ type: "work" }] }))).toEqual(["forbidden"]);
  expect(await ask(looker, { timers: [timer()] })).toMatchObject({ status: 403, body: { neededRole: "operator" } });
  expect(told(await ask(every, { cancelTimers: [theirs.id] }))).toEqual(["Cancelled"]);
  // Nor is told what became of it.
  expect(told(await ask(shop, { timers: [{ ...theirs, name: "shop.x" }] }))).toEqual(["id-taken"]);
  expect(told(await ask(every, { timers: [theirs] }))).toEqual(["timer-over"]);
});

test("Who is over the rate is told when to come back, and nothing is set", async () => {
  const hasty = await amqp.requester("hasty");
  const asked = Array.from({ length: 8 }, () => timer());
  const replies: Reply[] = [];
  for (const one of asked) replies.push(await ask(hasty, { timers: [one] }));
  expect(replies.map(({ status }) => status).filter((status) => status === 429).length).toBeGreaterThan(0);
  for (const [i, { status }] of replies.entries())
    expect((await find(asked[i]?.id ?? "")).status).toBe(status === 200 ? "Waiting" : 404);
});

test("Odd requests are answered, and hold up nobody", async () => {
  const odd: [body: unknown, status: number][] = [
    [{ timers: [] }, 422],
    [{ timers: "all" }, 422],
    [{ timers: [timer()], tasks: [] }, 422],
    [{ cancelTimers: [] }, 422],
    [{ cancelTimers: [randomUUID()], timers: [timer()] }, 422],
    [{ cancelTimers: Array.from({ length: 1_001 }, () => 1) }, 413],
    [{ timers: Array.from({ length: 1_001 }, () => 1) }, 413],
    ["{", 400],
  ];
  for (const [body, status] of odd) expect([body, (await ask(requester, body as object)).status]).toEqual([body, status]);
  const each = [
    null,
    7,
    {},
    timer({ payload: "\0" }),
    timer({ name: "" }),
    timer({ at: -1 }),
    timer({ expiresAt: 0 }),
    timer(),
  ];
  expect(told(await ask(requester, { timers: each })).map((one) => (one === "created" ? one : "refused"))).toEqual([
    ...Array(7).fill("refused"),
    "created",
  ]);
  expect(told(await ask(requester, { timers: [timer()] }))).toEqual(["created"]);
});

test.runIf(isTurnOf(0))(
  "Many single requests, and what is set, moved and cancelled in one row, in the order in which they were published",
  async () => {
    const ids = Array.from({ length: 300 }, () => randomUUID());
    const bodies = ids.flatMap((id) => [
      { timers: [timer({ id, payload: 1 })] },
      { timers: [timer({ id, payload: 2 })] },
      { cancelTimers: [id] },
      { timers: [timer({ id, payload: 3 })] },
    ]);
    const asked = await requester.publishMany(bodies, undefined, { key: "timers" });
    const replies = await Promise.all(asked.map((id) => requester.reply(id)));
    for (let i = 0; i < ids.length; i += 1)
      expect(replies.slice(4 * i, 4 * i + 4).flatMap(told)).toEqual(["created", "replaced", "Cancelled", "timer-over"]);
  },
);

test.runIf(isTurnOf(1))(
  "A manager that dies after the commit, before it answers: the next one says what was decided",
  async () => {
    const own = await RequestSystem.start();
    try {
      const users = { every: { role: "operator", timers: ["*"] } };
      const doomed = await own.startManager(users, diesAt("publish unacked.request-replies"));
      const every = await own.requester("every");
      const one = timer({ at: inMs(600_000) });
      const messageId = await every.publish({ timers: [one] }, { key: "timers" });
      expect(await doomed.exited).toEqual({ code: null, signal: "SIGKILL" });
      await own.startManager(users);
      expect(told(await every.reply(messageId))).toEqual(["created"]);
      const { body } = await own.system.call<AuditPage>("GET", `/api/v1/audit?requestId=${messageId}`);
      expect(body.items).toMatchObject([{ action: "timer.create", count: 1 }]);
    } finally {
      await own.close();
    }
  },
);
