import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { PROBLEMS, type ProblemCode } from "@unacked/contracts";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { startHttpManager, useHttpManager } from "../support/rest/http-manager.ts";
import { sendRaw } from "../support/rest/raw-request.ts";
import type { Called } from "../support/rest/rest-client.ts";
import { putObserver, putService } from "../support/servers/books.ts";

const OBSERVERS = "/api/v1/observers";
const TICKER = { name: "tick", type: "ticker", params: { everyMs: 10 } };

const { books, manager } = useHttpManager({ emptied: "observers, services, errors" });

const serviceKnowing = (...types: string[]) =>
  putService(books.dataSource, {
    worker_count: 2,
    types: types.map((type) => ({ type, description: "", paramsSchema: {} })),
  });

function expectProblem(answer: Called, code: ProblemCode, rest: object = {}): void {
  expect(answer.body, answer.text).toMatchObject({ code, status: PROBLEMS[code].status, ...rest });
  expect(answer.status).toBe(PROBLEMS[code].status);
  expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(answer.body.requestId).toBe(answer.headers.get("x-request-id"));
}

test("a connection that nobody uses is kept for longer than proxies keep it, so that none sends as it is closed", async () => {
  const { headers } = await manager.call("GET", OBSERVERS);
  const [, keptS] = /^timeout=(\d+)$/.exec(headers.get("keep-alive") ?? "") ?? [];
  expect(Number(keptS)).toBeGreaterThan(60); // nginx: keepalive_timeout of an upstream
});

describe("POST /observers", () => {
  beforeEach(() => serviceKnowing("ticker"));

  test("accepts with 201, Location and the observer, which is found there, by name and by id", async () => {
    const made = await manager.call("POST", OBSERVERS, { json: { ...TICKER, labels: { a: "b" } } });
    expect(made.status, made.text).toBe(201);
    expect(made.headers.get("location")).toBe(`${OBSERVERS}/${made.body.id}`);
    expect(made.body).toMatchObject({
      ...TICKER,
      labels: { a: "b" },
      status: "Created",
      pool: "default",
      service: null,
      revision: 1,
    });
    for (const path of [
      made.headers.get("location") ?? "",
      `${OBSERVERS}/tick`,
      `${OBSERVERS}/${made.body.id.toUpperCase()}`,
    ])
      expect((await manager.call("GET", path)).body).toEqual(made.body);
  });

  test("is safe to repeat with an id, and says when id or name is taken", async () => {
    const json = { ...TICKER, id: randomUUID() };
    expect((await manager.call("POST", OBSERVERS, { json })).status).toBe(201);
    const again = await manager.call("POST", OBSERVERS, { json: { ...json, params: { everyMs: 10 } } });
    expect(again.status).toBe(200);
    expect(again.body.id).toBe(json.id);
    expectProblem(await manager.call("POST", OBSERVERS, { json: { ...json, params: { everyMs: 11 } } }), "id-taken");
    expectProblem(await manager.call("POST", OBSERVERS, { json: TICKER }), "name-taken");
  });

  test("is refused with 503 and Retry-After when no worker is free, unless it may wait", async () => {
    for (const name of ["a", "b"])
      expect((await manager.call("POST", OBSERVERS, { json: { ...TICKER, name } })).status).toBe(201);
    const refused = await manager.call("POST", OBSERVERS, { json: { ...TICKER, name: "c" } });
    expectProblem(refused, "no-free-worker");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const waits = await manager.call("POST", OBSERVERS, { json: { ...TICKER, name: "c", whenFull: "queue" } });
    expect(waits.body).toMatchObject({ name: "c", status: "Created" });
  });

  test("is refused with 503 while the manager is not ready", async () => {
    manager.setReady(false);
    const refused = await manager.call("POST", OBSERVERS, { json: TICKER });
    expectProblem(refused, "not-ready");
    expect(refused.headers.get("retry-after")).toBe("1");
  });

  test("names each wrong field", async () => {
    const json = { name: "a b", type: "ticker", retry: { maxAttempts: 0 }, whenFull: "maybe", colour: "red" };
    const refused = await manager.call("POST", OBSERVERS, { json });
    expectProblem(refused, "invalid-body");
    expect(refused.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      "/name",
      "/retry/maxAttempts",
      "/whenFull",
      "/colour",
    ]);
    expectProblem(await manager.call("POST", OBSERVERS, { json: { ...TICKER, type: "unknown" } }), "unknown-type", {
      knownTypes: ["ticker"],
    });
  });

  test.each([
    ["a key __proto__", '{"name":"x","type":"ticker","params":{"__proto__":{"admin":true}}}', "/params/__proto__"],
    ["a label __proto__", '{"name":"x","type":"ticker","labels":{"__proto__":"x"}}', "/labels/__proto__"],
    ["a NUL", String.raw`{"name":"x","type":"ticker","params":{"a":["\u0000"]}}`, "/params/a/0"],
    ["half a surrogate pair", String.raw`{"name":"x","type":"ticker","params":"\ud800"}`, "/params"],
    ["a number that no double holds", '{"name":"x","type":"ticker","params":1e999}', "/params"],
    [
      "nesting without end",
      `{"name":"x","type":"ticker","params":${"[".repeat(60_000)}${"]".repeat(60_000)}}`,
      `/params${"/0".repeat(63)}`,
    ],
  ])("refuses %s", async (_, body, pointer) => {
    const refused = await manager.call("POST", OBSERVERS, { body, headers: { "content-type": "application/json" } });
    expectProblem(refused, "invalid-body");
    expect(refused.body.errors[0].pointer).toBe(pointer);
  });

  test("takes any JSON value as params, up to 256 KiB in all", async () => {
    await serviceKnowing("ticker");
    for (const [index, params] of [null, 0, "text", [1, { a: null }], { constructor: 1, toString: "x" }].entries()) {
      const made = await manager.call("POST", OBSERVERS, {
        json: { ...TICKER, name: `p-${index}`, params, whenFull: "queue" },
      });
      expect(made.body.params, made.text).toEqual(params);
    }
    const params = "x".repeat(250_000);
    expect(
      (await manager.call("POST", OBSERVERS, { json: { ...TICKER, name: "big", params, whenFull: "queue" } })).status,
    ).toBe(201);
    expectProblem(
      await manager.call("POST", OBSERVERS, { json: { ...TICKER, params: "x".repeat(262_144) } }),
      "body-too-large",
    );
  });
});

describe("a request that is not one", () => {
  const json = { "content-type": "application/json" };
  test.each([
    ["malformed-json", "{", json],
    ["malformed-json", "", json],
    ["malformed-json", Buffer.from([0x22, 0xff, 0xfe, 0x22]), json],
    ["unsupported-media-type", "", {}],
    ["unsupported-media-type", "name=x", { "content-type": "application/x-www-form-urlencoded" }],
    ["unsupported-media-type", "{}", { "content-type": "text/plain" }],
    ["unsupported-media-type", gzipSync("{}"), { ...json, "content-encoding": "gzip" }],
    ["unsupported-media-type", "{}", { "content-type": "application/json; charset=latin1" }],
    ["invalid-body", "[]", json],
    ["invalid-body", "null", json],
  ] as [ProblemCode, string | Uint8Array<ArrayBuffer>, Record<string, string>][])(
    "is answered %s (%#)",
    async (code, body, headers) => {
      expectProblem(await manager.call("POST", OBSERVERS, { body, headers }), code);
    },
  );

  test("that is no JSON is told where it stops being some, and what could stand there", async () => {
    const headers = json;
    const answered = async (body: string | Uint8Array<ArrayBuffer>) =>
      (await manager.call("POST", OBSERVERS, { body, headers })).body.detail;
    expect(await answered('{\n  "name": "a",\n}')).toBe('line 3, column 1: expected a name in double quotes, found "}"');
    expect(await answered("")).toBe("The body is empty");
    const latin1 = Buffer.from(JSON.stringify({ ...TICKER, name: "Müller" }), "latin1");
    expect(await answered(latin1)).toBe("The body is not UTF-8, as JSON has to be (RFC 8259, 8.1)");
  });

  test.each([
    ["GET", "/api/v1/nothing", "not-found"],
    ["GET", "/api/v1/Observers", "not-found"],
    ["GET", "/../../package.json", "not-found"],
    ["GET", "/%2e%2e/package.json", "not-found"],
    ["GET", `${OBSERVERS}/%zz`, "malformed-request"],
    ["GET", `${OBSERVERS}/no%20name`, "observer-not-found"],
    ["GET", `${OBSERVERS}/%00`, "observer-not-found"],
    ["GET", `${OBSERVERS}/nobody/runs`, "observer-not-found"],
    ["POST", `${OBSERVERS}/nobody/restart`, "observer-not-found"],
    ["DELETE", `${OBSERVERS}/${randomUUID()}`, "observer-not-found"],
    ["GET", `${OBSERVERS}?colour=red`, "invalid-query"],
    ["GET", `${OBSERVERS}?cursor=%2B`, "invalid-query"],
    ["GET", `${OBSERVERS}?q=%00`, "invalid-query"],
    ["GET", `${OBSERVERS}/x?y=1`, "invalid-query"],
    ["DELETE", `${OBSERVERS}/x?force=perhaps`, "invalid-query"],
    ["GET", "/api/v1/errors?cursor=abc", "invalid-query"],
    ["GET", "/api/v1/events?from=1", "invalid-query"],
  ] as [string, string, ProblemCode][])("%s %s is answered %s", async (method, path, code) => {
    expectProblem(await manager.call(method, path), code);
  });

  test.each([
    [`${OBSERVERS}/no%20name`, "A name is 1 to 128 of A-Z a-z 0-9 . _ : -"],
    ["/api/v1/timers/cart-1", "A timer's id is a UUID"],
    ["/api/v1/schedules/every%20day", "An id is 1 to 128 of A-Z a-z 0-9 . _ : -"],
  ])("PUT %s, which would create it, is told what an id is made of", async (path, detail) => {
    const refused = await manager.call("PUT", path, { body: "{}", headers: json });
    expectProblem(refused, "invalid-id");
    expect(refused.body.detail).toBe(detail);
  });

  test("is answered, as any other, with a newline at the end", async () => {
    for (const path of [OBSERVERS, `${OBSERVERS}/nobody`, "/api/v1/nothing", "/healthz", "/readyz", "/api/openapi.json"])
      expect((await manager.call("GET", path)).text, path).toMatch(/\}\n$/);
  });

  test.each([
    ["DELETE", "/api/v1/observers/x", "If-Match", "1.stale"],
    ["POST", "/api/v1/services/x/drain", "If-None-Match", "*"],
    ["DELETE", "/api/v1/schedules/x", "if-match", "nope"],
    ["POST", "/api/v1/observers/x/restart", "If-Unmodified-Since", "Sat, 29 Oct 1994 19:43:31 GMT"],
  ])(
    "under a condition that nobody would look at is refused, and not done: %s %s, %s",
    async (method, path, name, value) => {
      const { status, body } = await manager.call(method, path, { headers: { [name]: value }, body: "{}" });
      const problem = { code: "malformed-request", detail: expect.stringMatching(new RegExp(`look at ${name}`, "i")) };
      expect({ status, body }).toMatchObject({ status: 400, body: problem });
    },
  );

  test("that changes nothing may have a condition of caches", async () => {
    const { status } = await manager.call("GET", "/api/v1/observers", { headers: { "if-none-match": '"x"' } });
    expect(status).toBe(200);
  });

  test("by its method is told which ones there are", async () => {
    for (const [method, path, allow] of [
      ["PUT", OBSERVERS, "POST, GET, HEAD"],
      ["POST", `${OBSERVERS}/x`, "GET, HEAD, PATCH, PUT, DELETE"],
      ["DELETE", "/api/v1/stats", "GET, HEAD"],
      ["POST", "/healthz", "GET, HEAD"],
    ] as const) {
      const refused = await manager.call(method, path);
      expectProblem(refused, "method-not-allowed");
      expect(refused.headers.get("allow")).toBe(allow);
    }
    const options = await manager.call("OPTIONS", OBSERVERS);
    expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, GET, HEAD"]);
  });
});

describe("every answer", () => {
  test("carries the id that the client gave its request, or one of our own where that cannot go into a log", async () => {
    const given = await manager.call("GET", "/api/v1/stats", { headers: { "x-request-id": "my-1" } });
    expect(given.headers.get("x-request-id")).toBe("my-1");
    const odd = await manager.call("GET", "/api/v1/stats", { headers: { "x-request-id": "a b".repeat(99) } });
    expect(odd.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(manager.lines.map((line) => line.fields)).toContainEqual(
      expect.objectContaining({ requestId: "my-1", status: 200, path: "/api/v1/stats" }),
    );
  });

  test("leaves a line in the log: what reads and succeeds at debug, what changes or fails at info, our own trouble at warn, what only probes see at debug", async () => {
    await serviceKnowing("ticker");
    await manager.call("GET", OBSERVERS);
    await manager.call("GET", "/healthz");
    await manager.call("POST", OBSERVERS, { json: TICKER });
    await manager.call("GET", `${OBSERVERS}/nobody`);
    manager.setReady(false);
    await manager.call("GET", "/readyz");
    await manager.call("POST", OBSERVERS, { json: TICKER });
    await eventually(() =>
      expect(manager.lines.map(({ level, fields }) => ({ level, ...fields }))).toMatchObject([
        { level: "debug", method: "GET", path: OBSERVERS, status: 200 },
        { level: "debug", path: "/healthz", status: 200 },
        { level: "info", method: "POST", path: OBSERVERS, status: 201 },
        { level: "info", path: `${OBSERVERS}/nobody`, status: 404 },
        { level: "debug", path: "/readyz", status: 503 },
        { level: "warn", path: OBSERVERS, status: 503 },
      ]),
    );
  });

  test("that its client does not wait for has no status, and leaves a line at info", async () => {
    let answer = (): void => undefined;
    const stats = vi.fn(() => new Promise<never>((_, fail) => (answer = () => fail(new Error("nobody waits for it")))));
    const slow = await startHttpManager(books.databaseUrl, (api) => ({
      ...api,
      reads: { ...api.reads, stats },
    }));
    const client = new AbortController();
    const call = slow.call("GET", "/api/v1/stats", { signal: client.signal });
    await eventually(() => expect(stats).toHaveBeenCalled());
    client.abort();
    await expect(call).rejects.toThrow();
    await eventually(() =>
      expect(slow.lines).toMatchObject([
        { level: "info", fields: { method: "GET", path: "/api/v1/stats", status: undefined } },
      ]),
    );
    answer();
  });

  test("tells browsers to run nothing but our own files, and says nothing of the server", async () => {
    for (const path of ["/", "/observers/some-name", "/color-scheme.js", OBSERVERS, "/healthz", "/nothing"]) {
      const { headers } = await manager.call("GET", path);
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none';script-src 'self';/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-powered-by")).toBeNull();
    }
    expect((await manager.call("GET", OBSERVERS)).headers.get("etag")).toBeNull();
    expect((await manager.call("GET", OBSERVERS)).headers.get("cache-control")).toBe("no-store");
  });

  test("shows an observer to whoever has its ETag, which says nothing of how it stands", async () => {
    const id = await putObserver(books.dataSource, { status: "Created" });
    const tag = (await manager.call("GET", `${OBSERVERS}/${id}`)).headers.get("etag") ?? "";
    await books.dataSource.query("UPDATE observers SET status = 'Failed' WHERE id = $1", [id]);
    for (const known of [tag, `W/${tag}`, "*"]) {
      // As curl sends it; fetch() would say no-cache beside it.
      const path = `${OBSERVERS}/${id}`;
      const { status, text } = await sendRaw(manager.url, { path, headers: { "if-none-match": known } });
      expect([known, status]).toEqual([known, 200]);
      expect(JSON.parse(text)).toMatchObject({ id, status: "Failed" });
    }
  });

  test("refuses changes that a page of another origin sends", async () => {
    const id = await putObserver(books.dataSource, { status: "Failed" });
    const origin = (url: string) => ({ headers: { origin: url } });
    expectProblem(await manager.call("DELETE", `${OBSERVERS}/${id}`, origin("https://evil.example")), "cross-origin");
    expectProblem(await manager.call("POST", `${OBSERVERS}/${id}/restart`, origin("null")), "cross-origin");
    expect((await manager.call("GET", OBSERVERS, origin("https://evil.example"))).status).toBe(200);
    expect((await manager.call("DELETE", `${OBSERVERS}/${id}`, origin(manager.url))).status).toBe(202);
  });
});

describe("stop and restart", () => {
  test("answer as the state allows", async () => {
    const put = (name: string, status: string) => putObserver(books.dataSource, { name, status });
    for (const [name, status] of Object.entries({
      fresh: "Created",
      going: "OnDeleting",
      over: "Completed",
      failed: "Failed",
    }))
      await put(name, status);
    const gone = await put("gone", "Deleted");
    const call = (method: string, rest: string) => manager.call(method, `${OBSERVERS}/${rest}`);
    expectProblem(await call("DELETE", "fresh"), "not-activated");
    expectProblem(await call("DELETE", "going"), "already-deleting");
    expectProblem(await call("DELETE", gone), "already-deleted");
    expectProblem(await call("POST", "fresh/restart"), "not-restartable");
    expect((await call("DELETE", "fresh?force=true")).body).toMatchObject({ name: "fresh", status: "Deleted" });
    expect((await call("DELETE", "over")).body).toMatchObject({ name: "over", status: "Deleted" });
    const restarted = await call("POST", "failed/restart");
    expect(restarted.status).toBe(202);
    expect(restarted.body).toMatchObject({ name: "failed", status: "Created", revision: 2 });
  });
});

describe("the lists", () => {
  test("come page by page over HTTP", async () => {
    for (let count = 0; count < 5; count += 1)
      await putObserver(books.dataSource, { name: `n-${count}`, labels: { a: "b" } });
    const names: string[] = [];
    let cursor = "";
    for (let page = 0; page < 3; page += 1) {
      const { body } = await manager.call(
        "GET",
        `${OBSERVERS}?limit=2&label=a:b&status=Created,Failed&q=N-${cursor && `&cursor=${cursor}`}`,
      );
      expect(body.total).toBe(5);
      names.push(...body.items.map((item: { name: string }) => item.name));
      cursor = body.nextCursor ?? "";
    }
    expect(names).toEqual(["n-4", "n-3", "n-2", "n-1", "n-0"]);
    expect(cursor).toBe("");
  });

  test("of services, figures, errors and the API's own document answer 200", async () => {
    await serviceKnowing("ticker");
    expect((await manager.call("GET", "/api/v1/services?all")).body).toMatchObject({
      total: 1,
      items: [{ types: ["ticker"] }],
    });
    expect((await manager.call("GET", "/api/v1/stats")).body).toMatchObject({ workers: { total: 2 }, queues: null });
    expect((await manager.call("GET", "/api/v1/errors")).body).toEqual({ items: [], total: 0, nextCursor: null });
    expect((await manager.call("GET", "/api/openapi.json")).body.openapi).toBe("3.1.0");
    expect((await manager.call("HEAD", OBSERVERS)).status).toBe(200);
  });

  test.each(["/", "/observers", "/observers/some-name", "/services", "/errors"])(
    "have a page for people at %s, of our own files alone",
    async (address) => {
      const page = await manager.call("GET", address);
      expect(page.headers.get("content-type")).toMatch(/^text\/html/);
      const linked = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
      expect(linked.length).toBeGreaterThan(2);
      for (const path of linked) expect((await manager.call("GET", path)).status, path).toBe(200);
      expect(page.text).not.toMatch(/<script(?![^>]*src=)|<style|style=| on\w+=/);
    },
  );
});

describe("health", () => {
  test("is told by /healthz, readiness with its reasons by /readyz", async () => {
    expect((await manager.call("GET", "/healthz")).body).toEqual({ status: "ok" });
    expect((await manager.call("GET", "/readyz")).body).toMatchObject({ ready: true, checks: { database: { ok: true } } });
    manager.setReady(false);
    const not = await manager.call("GET", "/readyz");
    expect([not.status, not.body.ready, not.body.checks.stateConsumer.ok]).toEqual([503, false, false]);
  });

  test("while the database is away: 503 with Retry-After, no value in the log, and all well when it is back", async () => {
    const wire = await tcpProxy(books.databaseUrl);
    const far = await startHttpManager(wire.through(books.databaseUrl));
    await serviceKnowing("ticker");
    expect((await far.call("POST", OBSERVERS, { json: TICKER })).status).toBe(201);
    await wire.refuse();
    wire.reset();
    const json = { ...TICKER, name: "secret-name", params: "secret-params" };
    for (const answer of [
      await far.call("POST", OBSERVERS, { json }),
      await far.call("GET", OBSERVERS),
      await far.call("GET", `${OBSERVERS}/tick`),
    ]) {
      expectProblem(answer, "database-unavailable");
      expect(answer.headers.get("retry-after")).toBe("2");
    }
    expect((await far.call("GET", "/readyz")).body).toMatchObject({ ready: false, checks: { database: { ok: false } } });
    expect((await far.call("GET", "/healthz")).status).toBe(200);
    await wire.heal();
    expect((await far.call("POST", OBSERVERS, { json })).status).toBe(201);
    expect(JSON.stringify(far.lines)).not.toMatch(/secret-(name|params)/);
  });

  test("an error of our own is a 500 that says nothing but where to look", async () => {
    const broken = await startHttpManager(books.databaseUrl, (api) => ({
      ...api,
      reads: {
        ...api.reads,
        stats: () => Promise.reject(new TypeError("the secret of the stats")),
        listErrors: () => books.dataSource.query("SELECT $1::int", ["a secret value"]),
        listServices: () => Promise.resolve({ items: "no services", total: 1 } as never),
      },
    }));
    for (const path of ["stats", "errors", "services"]) {
      const answer = await broken.call("GET", `/api/v1/${path}`);
      expectProblem(answer, "internal-error");
      expect(answer.text).not.toMatch(/secret|TypeError|node_modules/);
      const logged = broken.lines.find(
        (line) => line.level === "error" && (line.fields as { requestId: string }).requestId === answer.body.requestId,
      );
      expect(logged).toBeDefined();
    }
    expect(JSON.stringify(broken.lines)).toContain("the secret of the stats");
    expect(JSON.stringify(broken.lines)).not.toContain("a secret value");
  });
});
