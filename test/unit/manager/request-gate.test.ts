import { describe, expect, it } from "vitest";
import { loadSettings } from "../../../libs/settings/src/index.ts";
import { readRequestUsers } from "../../../services/observer-manager/src/domain/requests/request-users.ts";
import { TokenBucket } from "../../../services/observer-manager/src/domain/requests/token-bucket.ts";
import type { ReceivedRequest } from "../../../services/observer-manager/src/operations/requests/request.ts";
import { RequestGate } from "../../../services/observer-manager/src/operations/requests/request-gate.ts";
import { ManagerSettings } from "../../../services/observer-manager/src/settings.ts";

describe("the setting REQUEST_USERS", () => {
  const BILLING = { role: "operator", types: ["resize"], pools: ["default"] };

  it("is read as JSON or as it stands in a file, and 6,000 requests a minute are the default", () => {
    const expected = { users: { billing: { ...BILLING, perMinute: 6_000 } } };
    expect(readRequestUsers(JSON.stringify({ billing: BILLING }))).toEqual(expected);
    expect(readRequestUsers({ billing: BILLING })).toEqual(expected);
  });

  it("may give timers beside tasks, or alone", () => {
    const timers = { role: "operator", timers: ["cart.", "*"] };
    expect(readRequestUsers({ shop: timers })).toEqual({ users: { shop: { ...timers, perMinute: 6_000 } } });
    expect(readRequestUsers({ shop: { ...BILLING, timers: ["*"] } })).toHaveProperty("users");
    expect(readRequestUsers({ shop: { ...timers, pools: ["*"] } })).toHaveProperty("problems");
  });

  it("is named, with the place, when the manager does not start by it", () => {
    const load = (users: string) => {
      const env = { AMQP_URL: "amqp://h", DATABASE_URL: "postgres://h/d", REQUEST_USERS: users };
      return loadSettings(ManagerSettings, { env }).REQUEST_USERS;
    };
    expect(load(JSON.stringify({ billing: BILLING }))).toEqual({ billing: { ...BILLING, perMinute: 6_000 } });
    expect(load("")).toBeUndefined();
    expect(() => load("{")).toThrow(/REQUEST_USERS: is not JSON/);
    expect(() => load('{"billing":{"role":"operator","types":[],"pools":["*"]}}')).toThrow(
      /REQUEST_USERS: \/billing\/types: /,
    );
  });

  it.each<[string, unknown, RegExp]>([
    ["no JSON", "billing=operator", /^is not JSON$/],
    ["a list", "[]", /^it: Invalid input: expected record/],
    ["nobody", "{}", /names no user/],
    ["another role", { billing: { ...BILLING, role: "root" } }, /^\/billing\/role: /],
    ["a misspelt field", { billing: { ...BILLING, pool: "x" } }, /^\/billing: Unrecognized key: "pool"/],
    ["no types", { billing: { role: "operator", pools: ["*"] } }, /^\/billing\/types: /],
    ["nothing that it may do", { billing: { role: "operator" } }, /^\/billing\/types: is needed, unless/],
    ["timers of a name that is none", { billing: { ...BILLING, timers: ["a b"] } }, /^\/billing\/timers\/0: /],
    ["an empty list", { billing: { ...BILLING, pools: [] } }, /^\/billing\/pools: /],
    ["a pool that is none", { billing: { ...BILLING, pools: ["a b"] } }, /^\/billing\/pools\/0: /],
    ["a name with a dot", { "billing.eu": BILLING }, /^\/billing.eu: a user's name has no dot/],
    ["a name with a star", { "*": BILLING }, /no dot, \* or #/],
    ["a name with a blank", { "a b": BILLING }, /without blanks/],
    ["a rate of nothing", { billing: { ...BILLING, perMinute: 0 } }, /^\/billing\/perMinute: /],
  ])("says what is wrong with %s, and where", (_, given, why) => {
    const read = readRequestUsers(given);
    expect("problems" in read ? read.problems.join("; ") : "it was taken").toMatch(why);
  });
});

it("A bucket holds ten seconds' worth, and refills evenly", () => {
  const bucket = new TokenBucket(60, 0);
  const takenAt = (ms: number, tries = 20) =>
    Array.from({ length: tries }, () => bucket.take(ms)).filter((wait) => wait === 0).length;
  expect(takenAt(0)).toBe(10);
  expect(bucket.take(0)).toBe(1_000);
  expect(takenAt(2_500)).toBe(2);
  expect(bucket.take(2_500)).toBe(500);
  expect(takenAt(10_000_000)).toBe(10);
  expect(new TokenBucket(1, 0).take(0)).toBe(0);
});

describe("the gate of requests", () => {
  const read = readRequestUsers({
    billing: { role: "operator", types: ["resize"], pools: ["default"] },
    all: { role: "admin", types: ["*"], pools: ["*"] },
    shop: { role: "operator", timers: ["cart.", "order.paid"] },
    looker: { role: "viewer", types: ["*"], pools: ["*"] },
  });
  let nowMs = 0;
  const gate = new RequestGate({
    users: "users" in read ? read.users : {},
    sha256: (body) => `digest of ${body.length}`,
    nowMs: () => nowMs,
  });
  const body = (value: unknown) => Buffer.from(JSON.stringify(value));
  const request = (more: Partial<ReceivedRequest> = {}): ReceivedRequest => ({
    user: "billing",
    messageId: "m-1",
    replyTo: "billing.here",
    body: body({ tasks: [{ type: "resize" }] }),
    hasWaited: false,
    ...more,
  });

  it("admits what may be asked, with its defaults", () => {
    expect(gate.admit(request())).toMatchObject({
      name: "billing",
      messageId: "m-1",
      replyKey: "billing.here",
      digest: "digest of 29",
      kind: "tasks",
      wanted: [{ type: "resize", params: {}, pool: "default", priority: 0, onConflict: "reject" }],
    });
    expect(gate.admit(request({ replyTo: undefined }))).toMatchObject({ replyKey: undefined });
  });

  it.each([
    "billing",
    "billingx.here",
    "unacked.work.default",
    "",
    "amq.rabbitmq.reply-to.x",
    "all.here",
    "billing.\0",
    `billing.${"x".repeat(255)}`,
  ])("answers nobody at %j", (replyTo) => {
    nowMs += 60_000;
    const answer = gate.admit(request({ replyTo }));
    expect(answer).toMatchObject({ outcome: "unanswerable", error: { reason: "unreadable" } });
    expect(answer).not.toHaveProperty("reply");
  });

  it("gives the tasks that a user may not create their refusal, and leaves the others", () => {
    const admitted = gate.admit(
      request({ body: body({ tasks: [{ type: "paint" }, { type: "resize", pool: "x" }, { type: "resize" }, 7] }) }),
    );
    expect(
      "wanted" in admitted &&
        admitted.kind === "tasks" &&
        admitted.wanted.map((one) => ("kind" in one ? one.code : one.type)),
    ).toEqual(["forbidden", "forbidden", "resize", "invalid-body"]);
    const any = gate.admit(
      request({ user: "all", replyTo: "all.x", body: body({ tasks: [{ type: "paint", pool: "x" }] }) }),
    );
    expect(any).toMatchObject({ wanted: [{ type: "paint", pool: "x" }] });
  });

  it("reads timers, and which are to be cancelled, each for itself, and by the names that its user may set", () => {
    const [a, b] = ["01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41", "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f42"];
    const ask = (user: string, asked: object) => gate.admit(request({ user, replyTo: `${user}.x`, body: body(asked) }));
    const codes = (one: ReturnType<typeof ask>) =>
      "wanted" in one ? [one.kind, ...one.wanted.map((each) => ("code" in each ? each.code : "well"))] : one;
    const timer = (id: string | undefined, name: string) => ({ id, name, at: 4_102_444_800 });
    const timers = [timer(a, "cart.left"), timer(b, "cartx"), timer(b, "order.paid"), timer("b", "cart.x"), 7];
    expect(codes(ask("shop", { timers }))).toEqual([
      "timers",
      "well",
      "forbidden",
      "invalid-body", // it is here twice
      "invalid-body",
      "invalid-body",
    ]);
    expect(codes(ask("shop", { cancelTimers: [a, b, a, "c", null] }))).toEqual([
      "timer-cancels",
      "well",
      "well",
      "invalid-body",
      "invalid-body",
      "invalid-body",
    ]);
    expect(codes(ask("billing", { cancelTimers: [a] }))).toEqual(["timer-cancels", "forbidden"]);
    expect(codes(ask("billing", { timers: [timer(a, "cart.left")] }))).toEqual(["timers", "forbidden"]);
    expect(codes(ask("shop", { tasks: [{ type: "resize" }] }))).toEqual(["tasks", "forbidden"]);
    expect(ask("shop", { timers, tasks: [] })).toMatchObject({ outcome: "refused" });
    expect(ask("shop", { cancelTimers: [] })).toMatchObject({ outcome: "refused" });
    expect(ask("shop", { cancelTimers: Array.from({ length: 1_001 }, () => a) })).toMatchObject({ outcome: "refused" });
  });

  it("does not count what came again or has waited, as it was asked in its time and may be decided already", () => {
    const users = readRequestUsers({ all: { role: "admin", types: ["*"], pools: ["*"], perMinute: 6 } });
    const slow = new RequestGate({ users: "users" in users ? users.users : {}, sha256: () => "d", nowMs: () => 0 });
    const ask = (hasWaited: boolean) => slow.admit(request({ user: "all", replyTo: "all.x", hasWaited }));
    expect(ask(false)).toHaveProperty("wanted");
    expect(ask(true)).toHaveProperty("wanted");
    expect(ask(false)).toMatchObject({ outcome: "too-many" });
    expect(ask(true)).toHaveProperty("wanted");
    // Whom nobody can tell: it stands among the errors.
    expect(slow.admit(request({ user: "all", replyTo: undefined }))).toMatchObject({
      outcome: "too-many",
      error: { reason: "unreadable", detail: "all: all may ask 6 times a minute (perMinute in REQUEST_USERS)" },
    });
  });

  it("refuses a viewer with what would be enough", () => {
    const { reply } = gate.admit(request({ user: "looker", replyTo: "looker.x" })) as { reply: { json: string } };
    expect(JSON.parse(reply.json)).toMatchObject({
      status: 403,
      code: "forbidden",
      neededRole: "operator",
      requestId: "m-1",
      remedy: expect.stringContaining("REQUEST_USERS"),
    });
  });

  it("names a hundred wrong fields at most", () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 0]));
    const { reply } = gate.admit(request({ body: body({ tasks: [{ type: "resize" }], ...many }) })) as {
      reply: { json: string };
    };
    expect(JSON.parse(reply.json)).toMatchObject({ status: 422, errors: { length: 100 } });
  });

  it("records strangers also while a user who is over its rate fills the errors", () => {
    const users = readRequestUsers({ all: { role: "admin", types: ["*"], pools: ["*"], perMinute: 6 } });
    const busy = new RequestGate({ users: "users" in users ? users.users : {}, sha256: () => "d", nowMs: () => 0 });
    const asked = Array.from({ length: 100 }, () => busy.admit(request({ user: "all", replyTo: undefined })));
    expect(asked.filter((one) => "error" in one)).toHaveLength(10);
    expect(busy.admit(request({ user: undefined }))).toHaveProperty("error");
  });

  it("puts what nobody is answered among the errors, sixty a minute at most, and goes on for those it knows", () => {
    nowMs += 600_000;
    const outcomes = Array.from({ length: 30 }, () => gate.admit(request({ user: undefined }))).map(
      (one) => "outcome" in one && one.outcome,
    );
    expect(outcomes.filter((one) => one === "unanswerable")).toHaveLength(10);
    expect(outcomes.filter((one) => one === "ignored")).toHaveLength(20);
    expect(gate.admit(request())).toHaveProperty("wanted");
    const broken = gate.admit(request({ replyTo: undefined, body: Buffer.from("{") }));
    expect(broken).toEqual({ outcome: "refused", user: "billing" });
    nowMs += 60_000;
    expect(gate.admit(request({ replyTo: undefined, body: Buffer.from("{") }))).toMatchObject({
      outcome: "refused",
      error: { reason: "unreadable", detail: expect.stringMatching(/^billing: line 1, column 2/) },
    });
  });
});
