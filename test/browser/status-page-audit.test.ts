import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, takePicture, untilLive } from "../support/browser/browser.ts";
import { looksFine } from "../support/browser/looks.ts";
import { eventually } from "../support/eventually.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { bearer, roleTokens } from "../support/rest/tokens.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const tokens = roleTokens();
let system: System;
let browser: Browser;

beforeAll(async () => {
  const file = join(temporaryFolder("audit"), "tokens.txt");
  writeFileSync(file, tokens.list);
  const env = { AUTH_TOKENS_FILE: file };
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10, env, token: tokens.of.operator }), launchBrowser()]);
  await system.startManager();
  await system.startService("alpha");
  const [first] = await system.createMany("one", 2);
  await system.call("POST", "/api/v1/observers/one-0/restart");
  // Of one that is still on its way to its new run, the next would be refused.
  await eventually(
    async () => {
      const now = await system.get("one-0");
      expect([now.status, now.runNumber]).toEqual(["Processing", (first?.runNumber ?? 0) + 1]);
    },
    { what: "that one-0 runs again" },
  );
  await system.call("POST", "/api/v1/observers/restart", { filter: { type: "stamp" } });
}, 240_000);
afterAll(() => system?.close());

async function signedIn(token: string, path: string): Promise<Page> {
  const { page } = await openPage(browser, `${system.url}${path}`);
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.keyboard.press("Enter");
  await untilLive(page);
  return page;
}

test.runIf(isTurnOf(2))("services are a table, too, a line each; which it is stands in the address", async () => {
  const page = await signedIn(tokens.of.admin, "/services");
  await page.getByRole("region", { name: "alpha", exact: true }).waitFor();
  await page.getByText("Table", { exact: true }).click();
  const line = page.getByRole("region", { name: "Services" }).getByRole("row").nth(1);
  await expect.poll(() => line.textContent(), POLL).toMatch(/^alpha.*Alive.*default210/);
  await looksFine(page, "services-table");
  await page.reload();
  await line.getByRole("button", { name: "Drain alpha" }).click();
  await page.getByRole("dialog").getByText(/alpha/).first().waitFor();
});

describe("the page of the audit trail", () => {
  test.runIf(isTurnOf(0))("tells an admin who did what, to whom, and what was asked; narrowed by the address", async () => {
    const page = await signedIn(tokens.of.admin, "/");
    await page.getByRole("navigation").getByRole("link", { name: "Audit" }).click();
    const what = () => page.getByRole("table").getByRole("rowheader").allTextContents();
    await expect.poll(what, POLL).toEqual(["observer.restart", "observer.restart", "observer.create", "observer.create"]);
    const [bulk = ""] = await page.getByRole("table").getByRole("row").nth(1).allTextContents();
    // By what somebody was known stands beside the role: a name alone may be a token's, a broker user's or a database role's.
    expect(bulk).toMatch(/an-operator operator · token.*2.*one-0, one-1.*"type":"stamp"/);
    await looksFine(page, "audit");
    await page.getByLabel("What", { exact: true }).selectOption("observer.create");
    await expect.poll(what, POLL).toEqual(["observer.create", "observer.create"]);
    await page.getByLabel("To", { exact: true }).fill("one-1");
    await expect.poll(what, POLL).toEqual(["observer.create"]);
    expect(page.url()).toContain("action=observer.create&target=one-1");
    await page.reload();
    await expect.poll(what, POLL).toEqual(["observer.create"]);
    await page.getByLabel("Who", { exact: true }).pressSequentially("the night shift");
    await page.getByText("Nothing matches").waitFor();
    expect(await page.getByLabel("Who", { exact: true }).inputValue()).toBe("the night shift");
    await page.getByLabel("Who", { exact: true }).fill("");
    await expect.poll(what, POLL).toEqual(["observer.create"]);
    await page.getByRole("table").getByRole("link", { name: "one-1" }).click();
    await page.getByRole("heading", { name: "one-1" }).waitFor();
    await page.getByRole("link", { name: "Who did what to observer" }).click();
    await expect.poll(what, POLL).toEqual(["observer.restart", "observer.create"]);
    expect(await page.getByLabel("Of the kind", { exact: true }).inputValue()).toBe("observer");
  });

  test.runIf(isTurnOf(1))("is led to from each task, timer, flow and schedule: who did what to it", async () => {
    const timer = { id: randomUUID() };
    await system.call("PUT", `/api/v1/timers/${timer.id}`, { name: "tea.ready", at: "2999-01-01T00:00:00Z" });
    await system.call("DELETE", `/api/v1/timers/${timer.id}`);
    const asAdmin = { json: { outside: true }, headers: bearer(tokens.of.admin) };
    await callHttp(`${system.url}/api/v1/task-types/paint`, "PATCH", asAdmin);
    const { body: task } = await system.call<{ id: string }>("POST", "/api/v1/tasks", { type: "paint" });
    const { body: flow } = await system.call<{ id: string }>("POST", "/api/v1/flows", { stages: ["paint"] });
    await system.call("PUT", "/api/v1/schedules/nightly", { task: { type: "paint" }, cron: "0 3 * * *" });
    const page = await signedIn(tokens.of.admin, "/timers");
    const what = () => page.getByRole("table").getByRole("rowheader").allTextContents();
    for (const [kind, at, id, told] of [
      ["timer", "/timers", timer.id, ["timer.cancel", "timer.create"]],
      ["task", `/tasks/${task.id}`, task.id, ["task.create"]],
      ["flow", `/flows/${flow.id}`, flow.id, ["flow.create"]],
      ["schedule", "/schedules/nightly", "nightly", ["schedule.put"]],
    ] as const) {
      await page.goto(`${system.url}${at}`);
      await page.getByRole("link", { name: `Who did what to ${kind} ${id}` }).click();
      await expect.poll(what, POLL).toEqual(told);
    }
    await page.goto(`${system.url}/timers`);
    await page.getByRole("link", { name: "Who did what to timer" }).waitFor();
    await looksFine(page, "timers-audited");
  });

  test.runIf(isTurnOf(1))("names the first few of a bulk operation, and the others when it is asked for them", async () => {
    await system.startService("beta");
    await system.createMany("many", 12);
    await system.call("POST", "/api/v1/observers/restart", { filter: { q: "many" } });
    const page = await signedIn(tokens.of.admin, "/audit?action=observer.restart");
    const line = page.getByRole("row").nth(1);
    const shown = () => line.getByRole("link").filter({ visible: true }).count();
    await expect.poll(shown, POLL).toBe(3);
    await takePicture(page, "audit-bulk-light-wide");
    await line.getByText("and 9 more").click();
    await expect.poll(shown, POLL).toBe(10);
    await line.getByText("and 2 that the trail does not name").waitFor();
  });

  test.runIf(isTurnOf(2))("is not for others: they are not led there, and told why", async () => {
    const page = await signedIn(tokens.of.viewer, "/audit");
    await page
      .getByText(/needs the role admin|may not|not allowed/i)
      .first()
      .waitFor();
    expect(await page.getByRole("navigation").getByRole("link", { name: "Audit" }).count()).toBe(0);
    // Nor do they read in a timeline who asked.
    await page.goto(`${system.url}/observers/one-0`);
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.getByText("asked to restart").first().waitFor();
    expect(await timeline.textContent()).not.toContain("operator");
    expect(await page.getByRole("link", { name: "Who did what" }).count()).toBe(0);
  });
});
