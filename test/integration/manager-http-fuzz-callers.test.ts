import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { ROLES } from "@unacked/contracts";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { type RawAnswer, sendRaw } from "../support/rest/raw-request.ts";
import { openApi } from "../support/rest/rest-contract.ts";
import { expectRightRefusal } from "../support/rest/right-refusals.ts";
import { callersOf, roleTokens } from "../support/rest/tokens.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { keptLog, putObserver, putRunning, putService } from "../support/servers/books.ts";

const tokens = roleTokens();

const { books, manager } = useHttpManager({
  access: () => ({
    callers: callersOf(tokens.list, keptLog()),
    corsOrigins: ["https://tools.example"],
    trustedProxies: ["loopback"],
    failuresPerMinute: 1_000_000,
  }),
});
beforeAll(async () => {
  await putService(books.dataSource, { name: "alpha", types: [{ type: "ticker", description: "", paramsSchema: {} }] });
  for (const status of ["Created", "Failed", "Deleted"])
    await putObserver(books.dataSource, { name: `is-${status}`, status });
  await putRunning(books.dataSource, { name: "is-Processing" });
});

/** Every call of the document, those with a body and without. */
const CALLS = Object.entries(openApi().paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    isOpen: "security" in operation,
    parameters: (operation.parameters ?? []).filter((one) => one.in === "query").map(({ name }) => name),
    hasBody: operation.requestBody !== undefined,
  })),
);

/** What breaks programs: keys of prototypes, NUL, halves of characters, numbers beyond any type, quotes of every language. */
const NASTY = fc.constantFrom(
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "toString",
  "\0",
  "a\0b",
  "\ud800",
  "💥",
  "نص",
  "i̇",
  "\u202e",
  "\ufeff",
  "'",
  '"',
  "`",
  "';--",
  "' OR 1=1 --",
  "\\",
  "%",
  "_",
  "${x}",
  "{{x}}",
  "../..",
  "..%2f",
  "/",
  "?",
  "#",
  "\r\nX-Injected: 1",
  "9".repeat(400),
  "1e999",
  "-0",
  "NaN",
  "9007199254740993",
  "18446744073709551616",
  "0x10",
  "x".repeat(5_000),
  "",
  randomUUID(),
  "is-Created",
  "is-Failed",
  "is-Processing",
  "alpha",
  "1",
  "true",
  "Failed",
  "observer.stop",
  "2026-11-20T09:00:00Z",
  "9999-12-31T23:59:59Z",
  "0000-00-00T00:00:00Z",
  "+275760-09-13T00:00:00.001Z",
  ...[`t.1.${randomUUID()}`, `n.${"9".repeat(16)}.${randomUUID()}`, "e.9"].map((text) =>
    Buffer.from(text).toString("base64url"),
  ),
);
const TEXT = fc.oneof({ weight: 3, arbitrary: NASTY }, { weight: 1, arbitrary: fc.string({ unit: "binary" }) });
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A header can hold no more than this; the rest is refused before it reaches us (see below). */
const HEADER_TEXT = TEXT.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?").slice(0, 2_000));

const TOKEN = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ROLES.map((role) => tokens.of[role])) },
  { weight: 1, arbitrary: HEADER_TEXT },
  { weight: 1, arbitrary: fc.constantFrom("eyJhbGciOiJub25lIn0.e30.", "a.b.c", "unacked_", "=", "A".repeat(7_000)) },
);
const GENUINE = new Set<string>(Object.values(tokens.of));

const CALLER = fc.oneof(
  { weight: 4, arbitrary: TOKEN.map((token) => ({ authorization: `Bearer ${token}` })) },
  { weight: 1, arbitrary: HEADER_TEXT.map((authorization) => ({ authorization })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(TOKEN, fc.constantFrom("unacked-session", "__Host-unacked-session", "__proto__"), HEADER_TEXT)
      .map(([token, name, more]) => ({ cookie: `${name}=${token}; ${more}` })),
  },
  { weight: 1, arbitrary: fc.constant({}) },
);

const HEADERS = fc.record(
  {
    origin: fc.oneof(fc.constantFrom("null", "https://tools.example", "https://evil.example"), HEADER_TEXT),
    "sec-fetch-site": fc.oneof(fc.constantFrom("same-origin", "same-site", "cross-site", "none"), HEADER_TEXT),
    host: fc.oneof(fc.constantFrom("localhost", "evil.example", "[::1]:1", "a:b:c"), HEADER_TEXT),
    "x-forwarded-for": fc.oneof(fc.constantFrom("203.0.113.7", "::1, 10.0.0.1", "nobody"), HEADER_TEXT),
    "x-forwarded-proto": fc.oneof(fc.constantFrom("https", "http", "gopher"), HEADER_TEXT),
    "x-forwarded-host": HEADER_TEXT,
    "x-request-id": HEADER_TEXT,
    "last-event-id": HEADER_TEXT,
    "accept-encoding": HEADER_TEXT,
    "if-none-match": HEADER_TEXT,
    "x-http-method-override": fc.constantFrom("DELETE", "GET"),
  },
  { requiredKeys: [] },
);

/** As a text: what JSON.stringify() would never write can be sent all the same. */
const BODY = fc.oneof(
  fc
    .dictionary(
      fc.oneof(fc.constantFrom("name", "type", "params", "token", "names", "ids", "filter", "all", "observers"), TEXT),
      TEXT,
    )
    .map((body) => JSON.stringify(body)),
  fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '{"__proto__":{"role":"admin"},"name":"x","type":"ticker"}',
    '{"name":"x","type":"ticker","params":{"a":{"__proto__":{}}}}',
    `{"name":"x","type":"ticker","params":${"[".repeat(65)}${"]".repeat(65)}}`,
    "[".repeat(100_000),
    `{"token":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`,
    '{"name":"x","type":"ticker","params":1e999}',
    `{"name":"x","type":"ticker","params":${"9".repeat(1_000)}}`,
    '{"name":"x","name":"y","type":"ticker","whenFull":"queue"}',
    '{"token":"\\u0000"}',
    '{"token":"\\ud800"}',
    '{"names":["\\u0000"]}',
    '{"filter":{"labels":{"__proto__":"x"}}}',
    "",
    "{",
    "\ufeff{}",
  ),
);

interface FuzzedRequest {
  call: (typeof CALLS)[number];
  places: string[];
  query: [name: string, value: string][];
  caller: Record<string, string>;
  headers: Record<string, string>;
  body: string;
}

function targetOf({ call, places, query }: FuzzedRequest): string {
  const [first = "", second = ""] = places;
  const path = call.path.replace(/\{\w+\}/, encoded(first) || "x").replace(/\{\w+\}/, encoded(second) || "x");
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
  return `${path}${search && `?${search}`}`;
}

/** Node itself answers 431 to a head of 16 KiB, before anybody of ours sees it ("headers without end" below is such a one). */
const isHeadTaken = (odd: FuzzedRequest): boolean =>
  targetOf(odd).length + JSON.stringify({ ...odd.headers, ...odd.caller }).length < 15_000;

const REQUEST = fc
  .constantFrom(...CALLS)
  .chain((call) =>
    fc.record<FuzzedRequest>({
      call: fc.constant(call),
      places: fc.array(TEXT, { minLength: 2, maxLength: 2 }),
      query: fc.array(fc.tuple(fc.oneof(fc.constantFrom("limit", ...call.parameters), TEXT), TEXT), { maxLength: 3 }),
      caller: CALLER,
      headers: HEADERS as fc.Arbitrary<Record<string, string>>,
      body: BODY,
    }),
  )
  .filter(isHeadTaken);

/** Whose token it is that the manager is to look at: a header counts more than a cookie. */
function isGenuine(caller: Record<string, string>, isSecure: boolean): boolean {
  const { authorization, cookie } = caller;
  if (authorization !== undefined) return GENUINE.has(authorization.replace(/^Bearer +/i, "").trim());
  const name = isSecure ? "__Host-unacked-session" : "unacked-session";
  return [...GENUINE].some((token) => cookie?.includes(`${name}=${token};`) === true);
}

function send(odd: FuzzedRequest): Promise<RawAnswer> {
  const { call, headers, caller, body } = odd;
  // A stream has no end; its head says as much.
  const isStream = call.path.endsWith("/events") || call.path.endsWith("/logs");
  const sent = call.hasBody ? body : "";
  return sendRaw(manager.url, {
    method: isStream ? "HEAD" : call.method,
    path: targetOf(odd),
    body: sent,
    headers: {
      ...headers,
      ...caller,
      ...(call.hasBody && { "content-type": "application/json" }),
      "content-length": Buffer.byteLength(sent),
    },
  });
}

const BEFORE_THE_GATE = ["unauthorized", "cross-origin", "not-found", "method-not-allowed", "malformed-request"];

describe.runIf(isTurnOf(1))("any caller, by any header, cookie, path, query and body", () => {
  test("no call answers a 5xx that is our fault, and none lets in somebody who brings no genuine token", {
    timeout: 480_000,
  }, async () => {
    const seen = new Map<number, number>();
    const property = fc.asyncProperty(REQUEST, async (odd) => {
      const { status, headers, text } = await send(odd);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      expect(status).not.toBe(500);
      const isSecure = odd.headers["x-forwarded-proto"]?.split(",")[0]?.trim() === "https";
      const isKnown = odd.call.isOpen || isGenuine(odd.caller, isSecure);
      if (!isKnown) expect(status, text).toBeGreaterThanOrEqual(400);
      expect(headers.get("x-injected")).toBeNull();
      expect(headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
      if (status < 400 || text === "") return;
      const { code } = JSON.parse(text) as { code: string };
      expectRightRefusal(status, code, text);
      // Refused before anything else of the request was looked at.
      if (!isKnown) expect(BEFORE_THE_GATE, text).toContain(code);
      expect(text).not.toMatch(/node_modules|at .*\.[jt]s:\d+/);
    });
    await fc.assert(property, { numRuns: 2_000 });
    expect(manager.lines.filter(({ level }) => level === "error")).toEqual([]);
    const logged = JSON.stringify(manager.lines);
    for (const token of GENUINE) expect(logged).not.toContain(token);
    for (const status of [200, 400, 401, 403, 404, 422])
      expect(seen.get(status) ?? 0, `answers ${status}`).toBeGreaterThan(0);
    expect(({} as Record<string, unknown>)["role"]).toBeUndefined();
  });

  /** Bytes that no client library would send. */
  const sendBytes = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(manager.url).port), "127.0.0.1", () => socket.write(bytes, "latin1"));
      let answer = "";
      socket.setEncoding("latin1").on("data", (chunk: string) => (answer += chunk));
      socket.once("error", reject);
      socket.once("close", () => resolve(answer));
      socket.setTimeout(5_000, () => socket.destroy());
    });
  const HEAD = "GET /api/v1/stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";

  test.each([
    ["a NUL in a header", `${HEAD}Authorization: Bearer a\0b\r\n\r\n`, 400],
    ["a line end alone in a header", `${HEAD}X-Request-Id: a\nX-Injected: 1\r\n\r\n`, 400],
    ["a space before the colon", `${HEAD}Authorization : Bearer x\r\n\r\n`, 400],
    ["two lengths", `${HEAD.replace("GET", "POST")}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`, 400],
    [
      "a length beside chunks",
      `${HEAD.replace("GET", "POST")}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ["no host", "GET /api/v1/stats HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["headers without end", `${HEAD}Cookie: ${"a=b; ".repeat(5_000)}\r\n\r\n`, 431],
    ["two tokens", `${HEAD}Authorization: Bearer x\r\nAuthorization: Bearer ${tokens.of.admin}\r\n\r\n`, 401],
    ["no HTTP", "\x16\x03\x01\x02\x00\x01\x00", 400],
  ])("%s is refused, and the manager serves on", async (_, bytes, status) => {
    const answer = await sendBytes(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer.toLowerCase()).not.toContain("\nx-injected");
    expect((await manager.call("GET", "/healthz")).status).toBe(200);
  });
});
