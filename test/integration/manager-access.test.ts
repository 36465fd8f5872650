import { ROLES, roleReaches } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { KnownCallers } from "../../services/observer-manager/src/adapters/access/known-callers.ts";
import type { OidcSettings } from "../../services/observer-manager/src/adapters/access/oidc-check.ts";
import { apiRoutes } from "../../services/observer-manager/src/adapters/http/api/api-routes.ts";
import type { HttpAccess } from "../../services/observer-manager/src/adapters/http/server/app.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { type HttpManager, startHttpManager, useHttpManager } from "../support/rest/http-manager.ts";
import { sendRaw } from "../support/rest/raw-request.ts";
import type { Called, CallOptions } from "../support/rest/rest-client.ts";
import { type Document, openApi } from "../support/rest/rest-contract.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { keptLog, putObserver } from "../support/servers/books.ts";
import { type IdentityProvider, startIdentityProvider } from "../support/servers/identity-provider.ts";

const tokens = roleTokens();
const { viewer, operator, admin } = tokens.of;

/** `manager` asks who one is. */
const { books, manager } = useHttpManager({ access: () => ({ callers: callersOf(tokens.list, keptLog()) }) });

const startClosed = (access: Partial<HttpAccess> = {}): Promise<HttpManager> =>
  startHttpManager(books.databaseUrl, undefined, { callers: callersOf(tokens.list, keptLog()), ...access });

const startOpen = (access: Partial<HttpAccess> = {}): Promise<HttpManager> =>
  startHttpManager(books.databaseUrl, undefined, access);

const call = (method: string, path: string, token: string, options: CallOptions = {}): Promise<Called> =>
  manager.call(method, path, { ...options, headers: { ...bearer(token), ...options.headers } });

describe("every call of the API", () => {
  const routes = [
    ...apiRoutes({} as never).map(({ method, path, access }) => ({ method: method.toUpperCase(), path, access })),
    { method: "GET", path: "/api/v1/events", access: "viewer" as const },
  ].map((route) => ({ ...route, path: route.path.replace("{ref}", "nobody").replace(/\{\w+\}/, "1") }));

  test.runIf(isTurnOf(1))("is for the role that it names and those above it, and for nobody without a token", async () => {
    expect(routes.length).toBeGreaterThan(20);
    for (const { method, path, access } of routes) {
      const nobody = await manager.call(method === "GET" ? "HEAD" : method, path);
      expect([401, 403].includes(nobody.status), `${method} ${path} of nobody`).toBe(access !== "open");
      for (const role of ROLES) {
        const { status } = await call(method === "GET" ? "HEAD" : method, path, tokens.of[role]);
        expect(status, `${method} ${path} of ${role}`).not.toBe(500);
        expect([401, 403].includes(status), `${method} ${path} of ${role}: ${status}`).toBe(!roleReaches(role, access));
      }
    }
  });

  test("says so in the OpenAPI document", () => {
    const { security, components, paths } = openApi() as Document & { security: object[] };
    expect(security.map((one) => Object.keys(one))).toEqual([["bearer"], ["session"]]);
    expect(Object.keys((components as Record<string, object>)["securitySchemes"] ?? {})).toEqual(["bearer", "session"]);
    const open = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const isOpen = "security" in operation;
        const answers = ["401", "403", "429"].filter((status) => status in operation.responses);
        if (!isOpen) expect(answers, `${method} ${path}`).toEqual(["401", "403", "429"]);
        return isOpen ? [`${method} ${path}`] : [];
      }),
    );
    expect(open.toSorted()).toEqual([
      "delete /api/v1/session",
      "get /api/openapi.json",
      "get /healthz",
      "get /metrics",
      "get /readyz",
      "post /api/v1/session",
    ]);
  });

  test("of health, the API's own document and the page asks nobody; figures for Prometheus as it is set", async () => {
    const closed = await startClosed({ metricsAccess: "viewer" });
    for (const path of ["/healthz", "/readyz", "/metrics", "/api/openapi.json", "/", "/observers", "/color-scheme.js"])
      expect((await manager.call("GET", path)).status, path).toBe(200);
    expect((await closed.call("GET", "/metrics")).status).toBe(401);
    expect((await closed.call("GET", "/metrics", { headers: bearer(viewer) })).status).toBe(200);
  });

  test("is refused before a body is read, however large", async () => {
    const json = { observers: Array.from({ length: 20_000 }, () => ({ name: "x".repeat(100), type: "ticker" })) };
    expect((await manager.call("POST", "/api/v1/observers/batch", { json })).status).toBe(401);
    expect((await manager.call("POST", "/api/v1/observers", { body: "{" })).status).toBe(401);
    expect((await call("POST", "/api/v1/observers", viewer, { body: "{" })).body.code).toBe("forbidden");
  });
});

describe("a caller who is not known", () => {
  test.each([
    ["no token", undefined, "The caller is not authenticated", 'Bearer realm="unacked"'],
    ["a wrong token", "Bearer nonsense", "The token is not known", 'Bearer realm="unacked", error="invalid_token"'],
    ["another scheme", "Basic YTpi", "The Authorization header must be: Bearer TOKEN", undefined],
    ["an empty token", "Bearer ", "The Authorization header must be: Bearer TOKEN", undefined],
    ["two tokens", "Bearer a b", "The Authorization header must be: Bearer TOKEN", undefined],
    ["a token of odd signs", "Bearer \u00fc\u00ff", "The Authorization header must be: Bearer TOKEN", undefined],
    ["a JWT where none is accepted", "Bearer eyJhbGciOiJub25lIn0.e30.", "The token is not known", undefined],
  ])("with %s is answered 401 with what to bring", async (_, authorization, detail, challenge) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const refused = await manager.call("GET", "/api/v1/stats", { headers });
    expect(refused.body, refused.text).toMatchObject({ status: 401, code: "unauthorized", detail });
    expect(refused.body.remedy).toContain("Authorization: Bearer");
    expect(refused.headers.get("www-authenticate")).toBe(challenge ?? 'Bearer realm="unacked", error="invalid_token"');
  });

  test("is known whatever the case of the scheme", async () => {
    const { status } = await manager.call("GET", "/api/v1/stats", { headers: { authorization: `bearer ${viewer}` } });
    expect(status).toBe(200);
  });

  test("leaves a line in the log without the token, and after too many wrong ones is told to wait", async () => {
    const strict = await startClosed({ failuresPerMinute: 3 });
    const headers = bearer("a-wrong-token");
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await strict.call("GET", "/api/v1/stats", { headers })).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const refused = await strict.call("GET", "/api/v1/stats", { headers });
    expect(refused.body.code).toBe("too-many-requests");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // Those who are known are not held up by it.
    expect((await strict.call("GET", "/api/v1/stats", { headers: bearer(viewer) })).status).toBe(200);
    // Nor are those who bring none: the page's first question is such a one.
    expect((await strict.call("GET", "/api/v1/session")).status).toBe(401);
    const told = strict.lines.filter(({ level }) => level === "warn");
    expect(told.map(({ fields }) => fields)).toEqual(
      Array.from({ length: 3 }, () => ({ event: "caller-refused", address: "127.0.0.1", why: "The token is not known" })),
    );
    expect(JSON.stringify(strict.lines)).not.toContain("a-wrong-token");
  });
});

test("a role that does not reach is answered 403, with the one that would, and the log has who it was", async () => {
  const asked = await startClosed();
  const refused = await asked.call("DELETE", "/api/v1/observers/x", { headers: bearer(viewer) });
  const why = "It needs the role operator, and a-viewer is viewer";
  expect(asked.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
    { event: "caller-refused", address: "127.0.0.1", name: "a-viewer", why },
  ]);
  expect(refused.body).toMatchObject({
    status: 403,
    code: "forbidden",
    neededRole: "operator",
    detail: why,
  });
});

test("a caller may ask so often and no more, each for themselves", async () => {
  const slow = await startClosed({ requestsPerMinute: 5 });
  const statusesOf = async (token: string) => {
    const statuses: number[] = [];
    for (let i = 0; i < 6; i += 1)
      statuses.push((await slow.call("GET", "/api/v1/session", { headers: bearer(token) })).status);
    return statuses;
  };
  expect(await statusesOf(viewer)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(await statusesOf(operator)).toEqual([200, 200, 200, 200, 200, 429]);
  const refused = await slow.call("GET", "/api/v1/stats", { headers: bearer(viewer) });
  expect(refused.body).toMatchObject({ status: 429, code: "too-many-requests" });
  expect(refused.headers.get("retry-after")).toBe(String(refused.body.retryAfterS));
  expect((await slow.call("GET", "/readyz")).status).toBe(200);
});

test("what is refused for its role counts, too", async () => {
  const slow = await startClosed({ requestsPerMinute: 5 });
  const statuses: number[] = [];
  for (let i = 0; i < 6; i += 1)
    statuses.push((await slow.call("DELETE", "/api/v1/observers/x", { headers: bearer(viewer) })).status);
  expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
});

describe("the page's session", () => {
  const signIn = (token: unknown, options: CallOptions = {}, at = manager) =>
    at.call("POST", "/api/v1/session", { json: { token }, ...options });
  const cookieOf = (answer: Called): string => answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const own = { "sec-fetch-site": "same-origin" };

  test("begins with a token, which goes into a cookie that no script and no foreign page can use", async () => {
    const signedIn = await signIn(operator);
    expect(signedIn.body).toMatchObject({ name: "an-operator", role: "operator", authentication: "token", expiresAt: null });
    expect(signedIn.body.needs).toMatchObject({ createObserver: "operator", deleteError: "admin", getStats: "viewer" });
    expect(signedIn.body.needs).not.toHaveProperty("signIn");
    const [rules = ""] = signedIn.headers.getSetCookie();
    expect(rules).toMatch(/^unacked-session=/);
    for (const rule of ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"]) expect(rules).toContain(rule);
    expect(rules).not.toMatch(/Domain|Secure/);
    const headers = { cookie: cookieOf(signedIn) };
    expect((await manager.call("GET", "/api/v1/session", { headers })).body).toEqual(signedIn.body);
    // Any other manager takes it, too: nothing is kept here.
    expect((await (await startClosed()).call("GET", "/api/v1/stats", { headers })).status).toBe(200);
  });

  test("opens the stream of events, which can bring no header", async () => {
    const cookie = cookieOf(await signIn(viewer));
    expect((await manager.call("HEAD", "/api/v1/events", { headers: { cookie } })).status).toBe(200);
    expect((await manager.call("HEAD", "/api/v1/events")).status).toBe(401);
  });

  test("changes nothing unless the browser says that our own page asks", async () => {
    const id = await putObserver(books.dataSource, { status: "Failed" });
    const cookie = cookieOf(await signIn(operator));
    const restart = (headers: Record<string, string>) =>
      manager.call("POST", `/api/v1/observers/${id}/restart`, { headers: { cookie, ...headers } });
    for (const foreign of [
      {},
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "cross-site", origin: manager.url },
    ] as Record<string, string>[])
      expect((await restart(foreign)).body.code, JSON.stringify(foreign)).toBe("cross-origin");
    expect((await restart(own)).status).toBe(202);
    // An older browser, without Fetch Metadata.
    expect((await restart({ origin: manager.url })).body.code).not.toBe("cross-origin");
  });

  test("counts where a proxy before the manager knows people by a header of another scheme", async () => {
    const headers = { cookie: cookieOf(await signIn(operator)), authorization: "Basic YTpi" };
    expect((await manager.call("GET", "/api/v1/session", { headers })).body.name).toBe("an-operator");
    const restart = (more: Record<string, string>) =>
      manager.call("POST", "/api/v1/observers/nobody/restart", { headers: { ...headers, ...more } });
    expect((await restart({})).body.code).toBe("cross-origin");
    expect((await restart(own)).body.code).toBe("observer-not-found");
    // Who writes Bearer means that.
    for (const authorization of ["Bearer a b", "bearer", bearer("nonsense").authorization])
      expect((await manager.call("GET", "/api/v1/session", { headers: { ...headers, authorization } })).status).toBe(401);
  });

  test("that is over is answered 401 however many are, so that the page offers to sign in", async () => {
    const strict = await startClosed({ failuresPerMinute: 3 });
    const ask = async (headers: Record<string, string>) => (await strict.call("GET", "/api/v1/session", { headers })).status;
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) statuses.push(await ask({ cookie: "unacked-session=old" }));
    expect(statuses).toEqual([401, 401, 401, 401, 401]);
    expect(await ask({ authorization: "Basic YTpi" })).toBe(401);
    expect(await ask(bearer("nonsense"))).toBe(429);
    expect((await signIn("nonsense", {}, strict)).status).toBe(429);
    expect(strict.lines.filter(({ level }) => level === "warn")).toHaveLength(3);
  });

  test("ends: the cookie is taken away, also of somebody unknown", async () => {
    for (const headers of [{ ...own, cookie: cookieOf(await signIn(viewer)) }, own]) {
      const out = await manager.call("DELETE", "/api/v1/session", { headers });
      expect(out.status).toBe(204);
      expect(out.headers.getSetCookie()[0]).toMatch(/^unacked-session=;.*Max-Age=0/);
    }
  });

  test("does not begin with a wrong token, with none, or for a foreign page", async () => {
    const refused = await signIn("nonsense");
    expect(refused.body).toMatchObject({ code: "unauthorized", detail: "The token is not known" });
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect((await signIn("")).body.code).toBe("invalid-body");
    expect((await signIn(7)).body.code).toBe("invalid-body");
    expect((await signIn(viewer, { headers: { origin: "https://evil.example" } })).body.code).toBe("cross-origin");
    expect((await manager.call("GET", "/api/v1/session", { headers: { cookie: "unacked-session=" } })).status).toBe(401);
    expect((await manager.call("GET", "/api/v1/session", { headers: { cookie: "unacked-session=%zz" } })).status).toBe(401);
    expect((await manager.call("GET", "/api/v1/session", { headers: { cookie: "=;;__proto__=x" } })).status).toBe(401);
  });

  test("over TLS is bound to this very host; behind a proxy that does TLS, only if that is trusted", async () => {
    const proxied = { "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7" };
    const trusting = await startClosed({ trustedProxies: ["loopback"] });
    const [rules = ""] = (await signIn(viewer, { headers: proxied }, trusting)).headers.getSetCookie();
    expect(rules).toMatch(/^__Host-unacked-session=/);
    expect(rules).toContain("Secure");
    const cookie = rules.split(";")[0] ?? "";
    const asked = (headers: Record<string, string>) => trusting.call("GET", "/api/v1/session", { headers });
    expect((await asked({ ...proxied, cookie })).status).toBe(200);
    // Over a plain connection somebody else may have set it.
    expect((await asked({ ...proxied, cookie: cookie.replace("__Host-", "") })).status).toBe(401);
    expect((await signIn(viewer, { headers: proxied })).headers.getSetCookie()[0]).toMatch(/^unacked-session=/);
    await signIn("wrong", { headers: proxied }, trusting);
    await signIn("wrong", { headers: proxied });
    const addresses = (of: HttpManager) =>
      of.lines.filter(({ level }) => level === "warn").map(({ fields }) => (fields as { address: string }).address);
    expect([addresses(trusting), addresses(manager)]).toEqual([["203.0.113.7"], ["127.0.0.1"]]);
  });

  test("is not needed where nobody is asked who they are", async () => {
    const open = await startOpen();
    const asked = await open.call("GET", "/api/v1/session");
    expect(asked.body).toMatchObject({ name: "anonymous", role: "admin", authentication: "anonymous" });
    const signedIn = await signIn("whatever", {}, open);
    expect([signedIn.status, signedIn.headers.getSetCookie()]).toEqual([200, []]);
  });
});

const trusting = ({ issuer, jwksUrl }: IdentityProvider): KnownCallers => {
  const claims = { nameClaim: "sub", roleClaim: "groups", roleWords: { ops: "operator" } } as const;
  const oidc: OidcSettings = { issuer, audience: "unacked", jwksUrl, algorithms: ["ES256"], ...claims };
  return new KnownCallers({ oidc }, keptLog());
};

test("genuine tokens without a role are counted as wrong ones are, and leave no more lines than those", async () => {
  const provider = await startIdentityProvider();
  const strict = await startClosed({ callers: trusting(provider), failuresPerMinute: 3 });
  const headers = bearer(await provider.sign({ claims: { groups: ["chefs"] } }));
  const statuses: number[] = [];
  for (let i = 0; i < 5; i += 1) statuses.push((await strict.call("GET", "/api/v1/stats", { headers })).status);
  expect(statuses).toEqual([403, 403, 403, 429, 429]);
  expect(strict.lines.filter(({ level }) => level === "warn")).toHaveLength(3);
});

test("a JWT of the identity provider is a bearer token, and makes a session unless no cookie could hold it", async () => {
  const provider = await startIdentityProvider();
  const callers = trusting(provider);
  const federated = await startClosed({ callers });
  const ask = (token: string, method = "GET", path = "/api/v1/session") =>
    federated.call(method, path, { headers: bearer(token) });
  const jwt = await provider.sign({ claims: { sub: "anna", groups: ["ops"] } });
  expect((await ask(jwt)).body).toMatchObject({ name: "anna", role: "operator", authentication: "oidc" });
  expect((await ask(jwt, "DELETE", "/api/v1/errors/1")).body.neededRole).toBe("admin");
  expect((await ask(await provider.sign({ expiresInS: -60 }))).body.detail).toBe("The token has expired");
  expect((await ask(await provider.sign({ claims: { groups: ["chefs"] } }))).body).toMatchObject({
    status: 403,
    code: "forbidden",
    detail: "The token's claim groups gives no role in this manager",
  });
  const late = await ask(await provider.sign({ claims: { groups: ["ops"] }, expiresInS: 1e12 }));
  expect([late.status, late.body.expiresAt]).toEqual([200, "9999-12-31T23:59:59.999Z"]);
  const signIn = (token: string) => federated.call("POST", "/api/v1/session", { json: { token } });
  const signedIn = await signIn(jwt);
  expect(Date.parse(signedIn.body.expiresAt)).toBeGreaterThan(Date.now());
  const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  expect((await federated.call("GET", "/api/v1/session", { headers: { cookie } })).body.name).toBe("anna");
  const long = await signIn(await provider.sign({ claims: { groups: ["ops"], more: "x".repeat(4_000) } }));
  expect(long.body).toMatchObject({ code: "invalid-body", errors: [{ pointer: "/token" }] });
  expect(long.headers.getSetCookie()).toEqual([]);
});

describe("a foreign page", () => {
  const ORIGIN = "https://tools.example";

  test("gets no permission from the browser, unless its origin is named; and even then it brings a token of its own", async () => {
    const naming = await startClosed({ corsOrigins: [ORIGIN] });
    const preflight = { origin: ORIGIN, "access-control-request-method": "DELETE" };
    const allowed = await naming.call("OPTIONS", "/api/v1/observers/x", { headers: preflight });
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(allowed.headers.get("access-control-allow-headers")).toContain("Authorization");
    expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
    const headers = { origin: ORIGIN, ...bearer(operator) };
    expect((await naming.call("DELETE", "/api/v1/observers/x", { headers })).body.code).toBe("observer-not-found");
    expect((await naming.call("GET", "/api/v1/stats", { headers })).headers.get("access-control-allow-origin")).toBe(ORIGIN);
    const refused = await naming.call("GET", "/api/v1/stats", { headers: { origin: ORIGIN } });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, ORIGIN]);
    for (const [at, origin] of [
      [naming, "https://evil.example"],
      [manager, ORIGIN],
    ] as const) {
      const answer = await at.call("OPTIONS", "/api/v1/observers/x", { headers: { ...preflight, origin } });
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect((await at.call("DELETE", "/api/v1/observers/x", { headers: { ...headers, origin } })).body.code).toBe(
        "cross-origin",
      );
    }
  });

  test("whose origin is named may send, and read, each header that calls have", async () => {
    const naming = await startClosed({ corsOrigins: [ORIGIN] });
    const { headers: allowed } = await naming.call("OPTIONS", "/api/v1/observers/x", {
      headers: { origin: ORIGIN, "access-control-request-method": "PATCH" },
    });
    const { headers: answered } = await naming.call("GET", "/api/v1/stats", {
      headers: { origin: ORIGIN, ...bearer(operator) },
    });
    const named = (list: string | null) => list?.split(",").map((name) => name.trim());
    expect(named(allowed.get("access-control-allow-headers"))).toEqual(
      expect.arrayContaining(["Authorization", "Content-Type", "If-Match", "Last-Event-ID", "Prefer"]),
    );
    expect(named(answered.get("access-control-expose-headers"))).toEqual(
      expect.arrayContaining(["ETag", "Location", "Preference-Applied", "Retry-After", "Unacked-Left-Out"]),
    );
  });

  test("that gave its own host name our address gets nothing where nobody is asked who they are", async () => {
    const open = await startOpen({ allowedHosts: ["unacked.example"] });
    const { port } = new URL(open.url);
    const statusAt = async (host: string) => (await sendRaw(open.url, { path: "/api/v1/stats", headers: { host } })).status;
    for (const own of [`127.0.0.1:${port}`, `localhost:${port}`, "[::1]:8080", "manager", "UNACKED.example", "a.localhost"])
      expect(await statusAt(own), own).toBe(200);
    for (const foreign of ["evil.example", "127.0.0.1.nip.io", "evil.example:8080", "unacked.example.evil.example"])
      expect(await statusAt(foreign), foreign).toBe(421);
    expect((await sendRaw(open.url, { path: "/healthz", headers: { host: "evil.example" } })).status).toBe(200);
    // Where a token is asked for, a page that has none gets nothing anyway.
    expect((await sendRaw(manager.url, { path: "/api/v1/stats", headers: { host: "evil.example" } })).status).toBe(401);
  });

  test("that gave its own host name our address gets nothing by a header that a proxy would write, either", async () => {
    const access = { allowedHosts: ["unacked.example", "manager.internal.example"] };
    const [open, trusting] = [await startOpen(access), await startOpen({ ...access, trustedProxies: ["loopback"] })];
    const statusAt = async (at: HttpManager, host: string, forwarded: string) => {
      const headers = { host, "x-forwarded-host": forwarded };
      return (await sendRaw(at.url, { path: "/api/v1/session", headers })).status;
    };
    // A script of the page can write this one, but not Host.
    for (const forged of ["localhost", "127.0.0.1", "unacked.example"])
      for (const at of [open, trusting]) expect(await statusAt(at, "evil.example", forged), forged).toBe(421);
    // A proxy may call the manager by another name than its clients do, and add to what it was sent itself.
    for (const named of ["127.0.0.1:8080", "unacked", "observer-manager:8080", "manager.internal.example"]) {
      expect(await statusAt(trusting, named, "unacked.example"), named).toBe(200);
      expect(await statusAt(trusting, named, "evil.example"), named).toBe(421);
      expect(await statusAt(trusting, named, "localhost, evil.example"), named).toBe(421);
    }
    expect(await statusAt(open, "127.0.0.1", "evil.example")).toBe(200); // it is believed from nobody
  });
});

test.runIf(isTurnOf(0))("a stream of events ends when its token is taken back", async () => {
  let list = tokens.list;
  const log = keptLog();
  const callers = { isConfigured: true, identify: (token: string) => callersOf(list, log).identify(token) };
  const closing = await startClosed({ callers });
  const [its, another] = await Promise.all(
    [viewer, admin].map((token) => followEvents(`${closing.url}/api/v1/events`, bearer(token))),
  );
  let isOver = false;
  void another?.ended.then(() => (isOver = true));
  list = tokens.list.replace(/^a-viewer.*\n/m, "");
  await its?.ended; // at its next sign of life, within 15 s
  expect(isOver).toBe(false);
  expect((await closing.call("HEAD", "/api/v1/events", { headers: bearer(viewer) })).status).toBe(401);
});
