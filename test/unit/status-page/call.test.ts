import { beforeEach, expect, test, vi } from "vitest";
import { call, onUnauthorized } from "../../../services/status-page/src/wire/call.ts";
import { refusal } from "../../support/browser/refusal.ts";

// Before the page's modules are loaded, whose client is for where their page came from.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1:8080/")));

const told = vi.fn();
beforeEach(() => {
  told.mockClear();
  onUnauthorized(told);
});

const answered = (body: string, init: ResponseInit) => vi.stubGlobal("fetch", async () => new Response(body, init));
const page = (status: number): [string, ResponseInit] => [
  "<h1>Sign in</h1>",
  { status, headers: { "content-type": "text/html" } },
];
const json = (status: number, body: object): [string, ResponseInit] => [
  JSON.stringify(body),
  { status, headers: { "content-type": "application/json" } },
];
const sentTo: [string, ResponseInit] = ["", { status: 302, headers: { location: "https://login.example.org/" } }];

test.each([
  ["a page that asks", page(401), "A proxy in front of the manager wants you to sign in"],
  ["a page that refuses", page(403), "A proxy in front of the manager refuses this: it may want you to sign in"],
  ["another address", sentTo, "A proxy in front of the manager wants you to sign in"],
  ["JSON of its own", json(401, {}), "A proxy in front of the manager wants you to sign in"],
  [
    "JSON that has a code of its own",
    json(401, { code: "UNAUTHENTICATED", message: "the session is over" }),
    "A proxy in front of the manager wants you to sign in",
  ],
] as const)("A proxy that answers with %s has not ended the session at the manager", async (_, [body, init], message) => {
  answered(body, init);
  const remedy = "Reload this page.";
  await expect(call("getStats", {})).rejects.toMatchObject({ code: "sign-in-elsewhere", message, remedy, isAnswer: false });
  expect(told).not.toHaveBeenCalled();
});

test("The manager's own refusals are what they say, and only one of them ends the session", async () => {
  for (const code of ["forbidden", "unauthorized"] as const) {
    expect(told).not.toHaveBeenCalled();
    const { body, ...init } = refusal(code, "why");
    answered(body, init);
    await expect(call("getStats", {})).rejects.toMatchObject({ code, message: "why", isAnswer: true });
  }
  expect(told).toHaveBeenCalledOnce();
});

test("What else is no answer of a manager is not taken for a sign-in", async () => {
  for (const [body, init] of [page(502), json(502, { code: "BAD_GATEWAY", message: "nobody is there" })]) {
    answered(body, init);
    await expect(call("getStats", {})).rejects.toMatchObject({ code: "no-problem-document" });
  }
});
