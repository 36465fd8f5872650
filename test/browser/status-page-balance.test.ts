import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { looksFine } from "../support/browser/looks.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  await system.startManager();
  await system.startService("alpha", { workers: 40 });
  await system.createMany("steady", 16);
  await system.startService("beta", { workers: 40 });
  await eventually(async () => expect((await system.call("POST", "/api/v1/services/beta/uncordon")).status).toBe(202), {
    timeoutMs: 30_000,
    what: "that cordons are taken",
  });
  ({ page } = await openPage(browser, `${system.url}/services`));
  await untilLive(page);
});
afterAll(() => system?.close());

const balance = () => page.getByRole("region", { name: "Balance of pool default" });
const row = (name: string) => balance().getByRole("row").filter({ hasText: name });
const card = (name: string) => page.getByRole("region", { name, exact: true });

describe.runIf(isTurnOf(0))("the balance of a pool", () => {
  test("shows what lies where and what would be moved; rebalanced it is even, and says who did it", async () => {
    await balance().getByText("8 moves would make it even: alpha runs 16, and its share is 8.").waitFor();
    expect(await row("alpha").getByRole("cell").allTextContents()).toEqual(["40", "16", "8", "−8", "16"]);
    expect(await row("beta").getByRole("cell").allTextContents()).toEqual(["40", "0", "8", "", "0"]);
    await looksFine(page, "services-balance");
    await balance().getByRole("button", { name: "Rebalance: move 8" }).press("Enter");
    await balance()
      .getByText(/of 8 moved; begun by/)
      .waitFor();
    await balance().getByText("Each runs its share.").waitFor();
    await balance()
      .getByText(/moved 8 and ended even/)
      .waitFor();
    expect(await row("beta").getByRole("cell").allTextContents()).toEqual(["40", "8", "8", "", "8"]);
    // How long ago that was counts on, and nothing of it is read out.
    const last = () =>
      balance()
        .getByText(/ended even/)
        .textContent();
    const [said, ago] = [await page.getByRole("status").allTextContents(), await last()];
    await expect.poll(last, POLL).not.toBe(ago);
    expect(await page.getByRole("status").allTextContents()).toEqual(said);
  });

  test("a cordoned service keeps its own, and can be uncordoned", async () => {
    await card("alpha").getByRole("button", { name: "Cordon alpha", exact: true }).press("Enter");
    await card("alpha").getByText("It takes nothing new; what runs on it goes on.").waitFor();
    await row("alpha").getByText("keeps its own").waitFor();
    await looksFine(page, "services-cordoned");
    await card("alpha").getByRole("button", { name: "Uncordon alpha" }).press("Enter");
    await expect.poll(() => card("alpha").getByText("It takes nothing new").count(), POLL).toBe(0);
    await expect.poll(() => row("alpha").getByText("keeps its own").count(), POLL).toBe(0);
    await page.getByText("Table", { exact: true }).click();
    const line = page.getByRole("region", { name: "Services", exact: true }).getByRole("row").filter({ hasText: "alpha" });
    await line.getByRole("button", { name: "Cordon alpha", exact: true }).press("Enter");
    await line.getByText("Cordoned").waitFor();
    await line.getByRole("button", { name: "Uncordon alpha" }).press("Enter");
    await line.getByRole("button", { name: "Cordon alpha", exact: true }).waitFor();
    await system.check();
  });
});
