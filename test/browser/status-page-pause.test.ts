import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;
const letGo = join(temporaryFolder("let-go"), "now");

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  await system.startManager();
  await system.startService("alpha", { env: { STOP_TIMEOUT_MS: "120000" } });
  // A manager believes that all can pause once it has watched them for some seconds.
  await eventually(async () => expect((await system.call("POST", "/api/v1/observers/nobody/pause")).status).toBe(404), {
    timeoutMs: 40_000,
    what: "that pauses are taken",
  });
  await system.createMany("clinging", 1, { stopWhenFile: letGo });
  await system.createMany("plain", 2);
  ({ page } = await openPage(browser, `${system.url}/observers`));
  await untilLive(page);
}, 240_000);
afterAll(() => system?.close());

const row = (name: string) => page.getByRole("row").filter({ hasText: name });
const textOf = (name: string) => row(name).first().textContent();
const confirm = async (title: string, verb: string) =>
  page.getByRole("dialog", { name: title }).getByRole("button", { name: verb }).click();

describe.runIf(isTurnOf(0))("what is paused on the page", () => {
  test("from the list: says that it is under way, then that it is so, and runs again when it is resumed", async () => {
    for (const name of ["clinging-0", "plain-0", "plain-1"]) await row(name).getByRole("checkbox").check();
    const bar = page.getByRole("group", { name: "Chosen observers" });
    expect(await bar.getByRole("button", { name: "Resume" }).isDisabled()).toBe(true);
    await bar.getByRole("button", { name: "Pause" }).click();
    await confirm("Pause 3 observers?", "Pause");
    await page.getByText("3 observers being paused").waitFor();
    await expect.poll(() => textOf("clinging-0"), POLL).toMatch(/Processing.*pausing/);
    for (const name of ["plain-0", "plain-1"]) await expect.poll(() => textOf(name), POLL).toContain("Paused");
    expect(await violationsOf(page)).toEqual([]);
    writeFileSync(letGo, "");
    await expect.poll(() => textOf("clinging-0"), POLL).toContain("Paused");
    expect(await textOf("clinging-0")).not.toContain("pausing");
    for (const name of ["plain-0", "plain-1"]) await row(name).getByRole("checkbox").setChecked(true);
    await bar.getByRole("button", { name: "Resume" }).click();
    await confirm("Resume 2 observers?", "Resume");
    for (const name of ["plain-0", "plain-1"]) await expect.poll(() => textOf(name), POLL).toContain("Processing");
  });

  test("on its own page: what it is, and what can be done with it", async () => {
    await page.goto(`${system.url}/observers/clinging-0`);
    await page.getByText("does not run until it is resumed").first().waitFor();
    const names = await page.getByRole("main").getByRole("button").allTextContents();
    expect(names).toEqual(expect.arrayContaining(["Stop", "Resume"]));
    expect(names).not.toContain("Restart");
    await page.getByRole("button", { name: "Resume" }).click();
    await confirm("Resume clinging-0?", "Resume");
    await page.getByText("clinging-0 is being resumed.").waitFor();
    await system.untilStatus(["clinging-0"], "Processing", 60_000);
    await system.check({ timeoutMs: 60_000 });
  });
});
