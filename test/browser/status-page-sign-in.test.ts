import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, NARROW, openPage, POLL, takePicture, untilLive, WIDE } from "../support/browser/browser.ts";
import { refusal } from "../support/browser/refusal.ts";
import { roleTokens } from "../support/rest/tokens.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const tokens = roleTokens();
const tokensFile = join(temporaryFolder("sign-in"), "tokens.txt");

let system: System;
let browser: Browser;

beforeAll(async () => {
  writeFileSync(tokensFile, tokens.list);
  const env = { AUTH_TOKENS_FILE: tokensFile };
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10, env, token: tokens.of.operator }), launchBrowser()]);
  await system.startManager();
  await system.startService("alpha");
  const [failed] = await system.createMany("one", 1);
  expect(failed).toBeDefined();
});
afterAll(() => system?.close());

const field = (page: Page) => page.getByLabel("Token", { exact: true });
const isFocused = (page: Page) => field(page).evaluate((one) => one === one.ownerDocument.activeElement);

async function signIn(page: Page, token: string): Promise<void> {
  await field(page).fill(token);
  await page.keyboard.press("Enter");
  await untilLive(page);
}

/** Everything that a script of the page could find a token in. */
const readable = (page: Page): Promise<string> =>
  page.evaluate(
    "JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])",
  );

describe.each(inTurn(["light", "dark"] as const))("the sign-in, in %s", (colorScheme) => {
  test("has nothing that axe objects to, wide and narrow, also with a mistake and on the page behind it", async () => {
    const { page, problems, foreign } = await openPage(browser, system.url, { colorScheme });
    const found: string[] = [];
    const look = async (name: string) => {
      for (const [width, viewport] of [
        ["narrow", NARROW],
        ["wide", WIDE],
      ] as const) {
        await page.setViewportSize(viewport);
        await takePicture(page, `${name}-${colorScheme}-${width}`);
        const sideways = await page.evaluate<number>(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        if (sideways > 0) found.push(`${name} ${width}: scrolls sideways by ${sideways} px`);
      }
      for (const violation of await violationsOf(page)) found.push(`${name}: ${violation}`);
    };
    await field(page).waitFor();
    await look("sign-in");
    await field(page).fill("a-wrong-token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The token is not known").waitFor();
    await look("sign-in-refused");
    await signIn(page, tokens.of.viewer);
    await page.getByText("one-0").or(page.getByText("Processing")).first().waitFor();
    await look("signed-in");
    await page.goto(`${system.url}/observers`);
    await page.getByRole("row").nth(1).waitFor();
    await look("observers-of-a-viewer");
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
  }, 240_000);
});

test.runIf(isTurnOf(2))(
  "by the keyboard alone: the field is where one begins, mistakes are said there, Enter goes in",
  async () => {
    const { page } = await openPage(browser, `${system.url}/observers?status=Processing`);
    await field(page).waitFor();
    expect(await isFocused(page)).toBe(true);
    expect(await field(page).getAttribute("type")).toBe("password");
    await page.keyboard.press("Enter");
    await page.getByText("Give a token").waitFor();
    await page.keyboard.type("a-wrong-token");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("The token is not known").waitFor();
    expect(await field(page).getAttribute("aria-invalid")).toBe("true");
    expect(await isFocused(page)).toBe(true);
    await page.getByLabel("Show it").check();
    expect(await field(page).getAttribute("type")).toBe("text");
    await field(page).fill(`  ${tokens.of.operator}\n`);
    await field(page).press("Enter");
    await untilLive(page);
    // Where one wanted to go.
    expect(page.url()).toBe(`${system.url}/observers?status=Processing`);
    await page.getByRole("row").filter({ hasText: "one-0" }).waitFor();
  },
);

test.runIf(isTurnOf(1))("the session outlives a reload and another tab, and no script can read the token", async () => {
  const { page } = await openPage(browser, system.url);
  await signIn(page, tokens.of.admin);
  await page.getByRole("banner").getByText("an-admin").waitFor();
  expect(await readable(page)).not.toContain(tokens.of.admin);
  await page.reload();
  await untilLive(page);
  const tab = await page.context().newPage();
  await tab.goto(`${system.url}/services`);
  await untilLive(tab);
  const cookies = await page.context().cookies();
  expect(cookies).toMatchObject([{ name: "unacked-session", httpOnly: true, sameSite: "Strict", path: "/" }]);
});

test.runIf(isTurnOf(0))("what a role does not reach is closed and says why; the next role finds it open", async () => {
  const { page } = await openPage(browser, `${system.url}/observers`);
  await signIn(page, tokens.of.viewer);
  const create = page.getByRole("button", { name: "New observer" });
  expect(await create.getAttribute("aria-disabled")).toBe("true");
  const describedBy = await create.getAttribute("aria-describedby");
  expect(await page.locator(`[id="${describedBy}"]`).textContent()).toBe("This needs the role operator; yours is viewer.");
  await create.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText("This needs the role operator; yours is viewer.").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.goto(`${system.url}/observers/one-0`);
  expect(await page.getByRole("button", { name: "Stop" }).getAttribute("aria-disabled")).toBe("true");

  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, tokens.of.operator);
  const restart = page.getByRole("button", { name: "Restart" });
  expect(await restart.getAttribute("aria-disabled")).toBeNull();
  await restart.click();
  await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
  await page.getByText("one-0 is being restarted.").waitFor();
  await expect.poll(async () => (await system.get("one-0")).epoch, POLL).toBe(2);
});

test("signing out ends the session, here and after a reload", async () => {
  const { page } = await openPage(browser, `${system.url}/errors`);
  await signIn(page, tokens.of.viewer);
  await page.getByRole("button", { name: "Sign out" }).click();
  await field(page).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await page.reload();
  await field(page).waitFor();
  expect(await page.getByText("This manager asks who you are.").count()).toBe(1);
  expect(await page.getByRole("navigation").count()).toBe(0);
});

test.runIf(isTurnOf(0))("who is known and has no role here can sign in as somebody who has", async () => {
  const { page } = await openPage(browser, "about:blank");
  const asked = refusal("forbidden", "The token's claim groups gives no role in this manager");
  await page.route("**/api/v1/session", (route) =>
    route.request().method() === "GET" ? route.fulfill(asked) : route.continue(),
  );
  await page.goto(system.url);
  await signIn(page, tokens.of.viewer);
});

test.runIf(isTurnOf(2))("signing in and out is known in every tab, and nobody sees by the eyes of another", async () => {
  const { page } = await openPage(browser, `${system.url}/observers`);
  const tab = await page.context().newPage();
  await tab.goto(`${system.url}/services`);
  await field(tab).waitFor();
  await signIn(page, tokens.of.viewer);
  await untilLive(tab);
  await tab.getByRole("banner").getByText("a-viewer").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await tab.getByText("Your session has ended").waitFor();
  await signIn(tab, tokens.of.admin);
  await untilLive(page);
  await page.getByRole("banner").getByText("an-admin").waitFor();
  await page.getByRole("row").filter({ hasText: "one-0" }).waitFor();
});

test.runIf(isTurnOf(1))(
  "an error's stack opens and is copied by the keyboard; a viewer is not told that there is one",
  async () => {
    await system.create("thrower", { throwAfterMs: 5 }, { retry: { maxAttempts: 1 } });
    await system.untilStatus(["thrower"], "Failed");
    const { page } = await openPage(browser, `${system.url}/observers/thrower`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await signIn(page, tokens.of.viewer);
    await page.getByRole("region", { name: "Last error" }).waitFor();
    await page.getByText("nothing more comes").first().waitFor();
    expect(await page.getByText(/stack/i).count()).toBe(0);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(page, tokens.of.operator);
    const error = page.getByRole("region", { name: "Last error" });
    const stack = error.getByRole("group", { name: "Stack" });
    await error.getByText("Stack", { exact: true }).waitFor();
    expect(await stack.isVisible()).toBe(false);
    await error.getByRole("link").focus();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await stack.waitFor();
    expect(await stack.evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).fontFamily)).toMatch(/mono/i);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await error.getByText("Copied").waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied.split("\n")[1]).toMatch(/^\s*at .*stamp\.[jt]s:\d+/);
    expect(copied).toContain((await stack.textContent()) ?? "no text");
    // The others stand at the run and in the log.
    await expect.poll(() => page.locator("summary", { hasText: "Stack" }).count(), POLL).toBe(3);
    system.isOver((await system.get("thrower")).id);
  },
);

test.runIf(isTurnOf(0))("a token that is taken back ends the session before one's eyes, and says so", async () => {
  const { page } = await openPage(browser, `${system.url}/observers`);
  await signIn(page, tokens.of.viewer);
  await page.getByRole("row").filter({ hasText: "one-0" }).waitFor();
  writeFileSync(tokensFile, tokens.list.replace(/^a-viewer.*\n/m, ""));
  await page.getByText("Your session has ended").waitFor();
  expect(await page.getByText("one-0").count()).toBe(0);
  await signIn(page, tokens.of.operator);
  await page.getByRole("row").filter({ hasText: "one-0" }).waitFor();
});

test.runIf(isTurnOf(1))(
  "a proxy in front that wants one to sign in is told from a session that is over at the manager",
  async () => {
    const manager = await system.startManager({ speakTo: false, env: { AUTH_TOKENS_FILE: "" } });
    const { url } = await manager.waitForEvent("listening");
    const context = await browser.newContext(); // not watched: a proxy answers as no document says
    const page = await context.newPage();
    await page.goto(`${String(url)}/observers/one-0`);
    await page.getByRole("button", { name: "Restart" }).waitFor();
    const asks = { status: 401, contentType: "text/html", body: "<h1>Sign in</h1>" };
    const sendsElsewhere = { status: 302, headers: { location: "https://login.example.org/" } };
    for (const answer of [asks, sendsElsewhere]) {
      await untilLive(page);
      await page.route(/\/api\/v1\//, (route) => route.fulfill(answer));
      const said = "A proxy in front of the manager wants you to sign in";
      // The log beside it says the same of its own lines, a little earlier or later.
      await page.locator("[data-banner]").getByText(said).waitFor();
      await page.getByRole("button", { name: "Restart" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
      await page.getByRole("log", { name: "What was done" }).getByText(said).waitFor();
      expect(await field(page).count()).toBe(0);
      await page.locator("[data-banner]").getByRole("button", { name: "Reload" }).click();
      await page.getByText("The manager cannot say who you are").waitFor();
      await page.getByText(said).waitFor();
      await page.unrouteAll({ behavior: "ignoreErrors" }); // somebody has signed in by another tab
    }
    await untilLive(page);
    expect(await page.getByRole("button", { name: "Reload" }).count()).toBe(0);
    await context.close();
  },
);
