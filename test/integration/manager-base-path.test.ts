import type { ProblemDetails } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import type { HttpAccess } from "../../services/observer-manager/src/adapters/http/server/app.ts";
import { runHealthCheck } from "../support/deploy/health-check.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { startHttpManager } from "../support/rest/http-manager.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { TEST_BASE_PATH } from "../support/rest/rest-contract.ts";
import { callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog, putService, useBooks } from "../support/servers/books.ts";

const books = useBooks("observers, services");
const tokens = roleTokens();

async function startBelow(access: Partial<HttpAccess> = {}) {
  const manager = await startHttpManager(books.databaseUrl, undefined, access, TEST_BASE_PATH);
  // Not held against the OpenAPI document, which knows what is below the path.
  const outside = (path: string, method = "GET") => fetch(`${new URL(manager.url).origin}${path}`, { method });
  return { manager, outside };
}

describe("a manager with a BASE_PATH", () => {
  test("answers all below it: pages, their files, documents, REST, probes, metrics", async () => {
    const { manager } = await startBelow();
    expect(manager.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/unacked$/);
    for (const path of ["", "/", "/observers", "/observers/some-name", "/api/docs"]) {
      const { status, text, headers } = await manager.call("GET", path);
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
      const named = [...text.matchAll(/(?:href|src)="(?<address>[^"]*)"/g)].map(({ groups }) => groups?.["address"] ?? "");
      expect(named.length).toBeGreaterThan(5);
      expect(named.filter((address) => !address.startsWith("/unacked/"))).toEqual([]);
      for (const address of named) expect((await callHttp(new URL(address, manager.url).href, "GET")).status).toBe(200);
    }
    expect((await manager.call("GET", "/api/openapi.json")).body.servers).toMatchObject([{ url: "/unacked" }]);
    expect((await manager.call("GET", "/api/v1/observers")).body.items).toEqual([]);
    for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await manager.call("GET", path)).status).toBe(200);
    expect((await manager.call("GET", "/nothing")).body).toMatchObject({ code: "not-found", detail: "No such path" });
    expect((await manager.call("PUT", "/api/v1/observers")).headers.get("allow")).toBe("POST, GET, HEAD");
  });

  test("answers outside of it to probes and Prometheus alone, and says to others where it is", async () => {
    const { manager, outside } = await startBelow();
    for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await outside(path)).status).toBe(200);
    for (const path of ["/", "/observers", "/api/v1/observers", "/unackedly/", "/Unacked/", "/unacked%2Fapi/v1/observers"]) {
      const answer = await outside(path);
      const { code, detail } = (await answer.json()) as ProblemDetails;
      expect([path, answer.status, code]).toEqual([path, 404, "not-found"]);
      expect(detail).toContain("below /unacked (BASE_PATH)");
      expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    }
    expect((await outside("/healthz", "POST")).status).toBe(405);
    expect(manager.lines.map(({ fields }) => (fields as { path?: string }).path)).toContain("/api/v1/observers");
  });

  test("is well to the health check of its image, which knows of no path", async () => {
    const { manager } = await startBelow();
    const port = { PORT: new URL(manager.url).port };
    expect(await runHealthCheck("observer-manager", port)).toBe(0);
    await manager.close();
    expect(await runHealthCheck("observer-manager", port)).toBe(1);
  });

  test("leads to what it has made, and logs the path as it was asked", async () => {
    await putService(books.dataSource, {
      worker_count: 2,
      types: [{ type: "ticker", description: "", paramsSchema: {} }],
    });
    const { manager } = await startBelow();
    const json = { name: "tick", type: "ticker", params: { everyMs: 10 } };
    const made = await manager.call("POST", "/api/v1/observers", { json });
    const location = made.headers.get("location") ?? "";
    expect(location).toBe(`/unacked/api/v1/observers/${made.body.id}`);
    expect((await callHttp(new URL(location, manager.url).href, "GET")).body).toEqual(made.body);
    const paths = manager.lines.map(({ fields }) => (fields as { path?: string }).path);
    expect(paths).toContain("/unacked/api/v1/observers");
  });

  test("streams changes, and tells a proxy not to hold them back", async () => {
    const { manager } = await startBelow();
    const { response, events } = await followEvents(`${manager.url}/api/v1/events`);
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    await expect.poll(() => events.map(({ event }) => event), { timeout: 60_000 }).toEqual(["ready"]);
  });

  test("has a session of its own, which goes to no other program of the host", async () => {
    const { manager } = await startBelow({ callers: callersOf(tokens.list, keptLog()), trustedProxies: ["loopback"] });
    for (const { proxied, name, secure } of [
      { proxied: { "x-forwarded-proto": "https" }, name: "__Secure-unacked-session", secure: true },
      { proxied: {}, name: "unacked-session", secure: false },
    ]) {
      const own = { ...proxied, "sec-fetch-site": "same-origin" };
      const json = { token: tokens.of.viewer };
      const signedIn = await manager.call("POST", "/api/v1/session", { json, headers: own });
      const [cookie = "", ...rules] = signedIn.headers.getSetCookie()[0]?.split("; ") ?? [];
      expect(cookie.split("=")[0]).toBe(name);
      expect(rules).toEqual(expect.arrayContaining(["Path=/unacked", "HttpOnly", "SameSite=Strict"]));
      expect(rules.includes("Secure")).toBe(secure);
      const asked = (headers: Record<string, string>) => manager.call("GET", "/api/v1/session", { headers });
      expect((await asked({ ...proxied, cookie })).body).toMatchObject({ name: "a-viewer" });
      expect((await asked({ ...proxied, cookie: cookie.replace(name, "__Host-unacked-session") })).status).toBe(401);
      const out = await manager.call("DELETE", "/api/v1/session", { headers: own });
      expect(out.headers.getSetCookie()[0]).toMatch(new RegExp(`^${name}=; Max-Age=0; Path=/unacked;`));
    }
  });
});
