import { Client, contractDecoder, Wire } from "@unacked/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, untilLive, type WatchedPage } from "../support/browser/browser.ts";
import { eventually } from "../support/eventually.ts";
import { startProcess } from "../support/processes/processes.ts";
import { CLI_FILE, runCli } from "../support/processes/unacked-cli.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { TEST_BASE_PATH } from "../support/rest/rest-contract.ts";
import { bearer, roleTokens } from "../support/rest/tokens.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { type Nginx, startNginx } from "../support/servers/nginx.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const tokens = roleTokens();

let system: System;
let browser: Browser;
let nginx: Nginx;
/** Through nginx, with TLS. */
let url: string;

beforeAll(async () => {
  const env = { AUTH_TOKENS: tokens.list, BASE_PATH: TEST_BASE_PATH, TRUSTED_PROXIES: "loopback" };
  [system, browser] = await Promise.all([
    freshSystem({ heartbeatS: 10, env, token: tokens.of.operator }),
    launchBrowser({ trustsAnybody: true }),
  ]);
  await system.startManager();
  await system.startService("alpha");
  nginx = await startNginx(system.url);
  url = `${nginx.secureUrl}${TEST_BASE_PATH}`;
});
afterAll(() => system?.close());

/** Everything that the page asked for, as paths, and who is signed in. */
async function openSignedIn(address: string): Promise<WatchedPage & { asked: string[] }> {
  const watched = await openPage(browser, address, { ignoreHTTPSErrors: true });
  const asked: string[] = [];
  watched.page.context().on("request", (request) => asked.push(new URL(request.url()).pathname));
  await watched.page.reload(); // what the first load asked for, too
  await watched.page.getByLabel("Token", { exact: true }).fill(tokens.of.operator);
  await watched.page.keyboard.press("Enter");
  await untilLive(watched.page);
  return { ...watched, asked };
}

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

test.runIf(isTurnOf(0))(
  "the page loads below the path, one signs in, lists are live, and nothing is asked for outside of it",
  async () => {
    const { page, problems, foreign, asked } = await openSignedIn(`${url}/observers`);
    expect(await page.context().cookies()).toMatchObject([
      { name: "__Secure-unacked-session", path: "/unacked", secure: true, httpOnly: true, sameSite: "Strict" },
    ]);
    await system.create("seen-live", { sayEveryMs: 100 });
    await row(page, "seen-live").getByText("Processing").waitFor();

    // Links, addresses and Back of the page itself; then a deep link that is loaded again.
    await row(page, "seen-live").getByRole("link", { name: "seen-live" }).click();
    await page.getByRole("region", { name: "Log" }).getByText("Live from alpha").waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/unacked\/observers\/[0-9a-f-]{36}$/);
    await page.reload();
    await page.getByRole("log", { name: "Log" }).getByText('"times":').first().waitFor();
    await page.goBack();
    await row(page, "seen-live").waitFor();
    await page.goto(url);
    await untilLive(page);
    expect(page.url()).toBe(`${url}/`);
    for (const name of ["Tasks", "Flows", "Schedules", "Timers", "Services", "Errors", "Observers"]) {
      await page.getByRole("navigation").getByRole("link", { name }).click();
      await expect.poll(() => new URL(page.url()).pathname, POLL).toBe(`/unacked/${name.toLowerCase()}`);
    }
    await row(page, "seen-live").waitFor();

    await page.getByRole("banner").getByRole("link", { name: "API" }).click();
    await page.locator('[id$="-listObservers"] .opblock-summary-control').click();
    await page.getByRole("button", { name: "Try it out" }).click();
    await page.getByRole("button", { name: "Execute" }).click();
    await page.locator(".live-responses-table").getByText("seen-live").waitFor();
    await page.getByRole("banner").getByRole("link", { name: "Unacked" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await page.context().cookies()).toEqual([]);

    expect(asked.length).toBeGreaterThan(50);
    expect(asked.filter((path) => !path.startsWith("/unacked/") && path !== "/unacked")).toEqual([]);
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
    // The browser's word is not enough: a worker's requests are not among them.
    expect(nginx.askedOfOthers()).toEqual([]);
  },
);

test.runIf(isTurnOf(1))("the site beside it is not sent the session", async () => {
  const { page } = await openSignedIn(`${url}/`);
  const before = nginx.askedOfOthers().length;
  await page.goto(`${nginx.secureUrl}/their-page`);
  await page.getByText("Another site").waitFor();
  // It writes that down after it has answered.
  await eventually(() => expect(nginx.askedOfOthers().slice(before)).toContain("/their-page -"));
  await page.goto(`${url}/services`);
  await untilLive(page);
});

test.runIf(isTurnOf(1))("the command line works with the path in its address, over TLS, and follows logs", async () => {
  const env = {
    UNACKED_URL: url,
    UNACKED_TOKEN: tokens.of.operator,
    UNACKED_CERTIFICATE_AUTHORITY: nginx.caFile,
    NO_COLOR: "1",
    XDG_CONFIG_HOME: temporaryFolder("cli"),
  };
  const cwd = temporaryFolder("cli-cwd");
  const created = await runCli(["create", "stamp", "by-cli", "--param", "sayEveryMs=100", "--wait"], { env, cwd });
  expect(created, created.err).toMatchObject({ code: 0 });
  const followed = startProcess({ file: CLI_FILE, args: ["logs", "by-cli", "-f"], env, cwd, name: "unacked logs" });
  await followed.waitForLine((line) => /said.*30\b/.test(line));
  await followed.kill("SIGINT");
  const changes = startProcess({ file: CLI_FILE, args: ["watch"], env, cwd, name: "unacked watch" });
  await changes.waitForLine((line) => line === `Watching ${url}.`);
  const stopped = await runCli(["stop", "by-cli", "--url", `${url}/`], { env, cwd });
  expect(stopped, stopped.err).toMatchObject({ code: 0 });
  await changes.waitForLine((line) => /by-cli.*Deleted/.test(line));
  await changes.kill("SIGINT");
  // A browser that was there may have asked for its picture.
  expect(nginx.askedOfOthers().filter((line) => !/^\/(their-page|favicon)/.test(line))).toEqual([]);
});

test.runIf(isTurnOf(2))("the client library works likewise: calls, changes and logs as they happen", async () => {
  const wire = new Wire({ url: `${nginx.plainUrl}${TEST_BASE_PATH}`, token: tokens.of.operator });
  const client = new Client({ wire, decoder: contractDecoder });
  const leaving = new AbortController();
  const kinds: string[] = [];
  for await (const change of client.changes(leaving.signal)) {
    kinds.push(change.name);
    if (change.name === "ready")
      await client.call("createObserver", { body: { name: "by-client", type: "stamp", params: { sayEveryMs: 100 } } });
    if (change.name === "observer" && change.data.name === "by-client" && change.data.status === "Processing") break;
  }
  expect(kinds).toContain("ready");
  expect(kinds).not.toContain("lost");
  const said: unknown[] = [];
  for await (const event of client.logs("by-client", { limit: 10 }, leaving.signal)) {
    said.push(event);
    if (said.length === 20) break;
  }
  leaving.abort();
});

test("nginx keeps metrics and readiness for itself, sends those to the page who leave its last slash out, and passes answers on as they are", async () => {
  const plain = `${nginx.plainUrl}${TEST_BASE_PATH}`;
  for (const path of ["/metrics", "/metrics/", "/readyz", "/readyz/"])
    expect((await fetch(`${plain}${path}`)).status, path).toBe(404);
  const redirected = await fetch(plain, { redirect: "manual" });
  expect([redirected.status, redirected.headers.get("location")]).toEqual([301, "/unacked/"]);
  const json = { name: "by-rest", type: "stamp" };
  const made = await callHttp(`${plain}/api/v1/observers`, "POST", { json, headers: bearer(tokens.of.operator) });
  const found = new URL(made.headers.get("location") ?? "", plain);
  expect((await callHttp(found.href, "GET", { headers: bearer(tokens.of.operator) })).body.id).toBe(made.body.id);
  expect((await callHttp(`${plain}/healthz`, "GET")).status).toBe(200);
});
