import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { looksFine } from "../support/browser/looks.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { untilItMayChange } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  await system.startManager();
  await system.startService("alpha");
  const retry = { maxAttempts: "unlimited", delaysMs: [50] };
  await system.createMany("heard", 3, { emitEveryMs: 100 }, { silence: { warnAfterMs: 30_000, restartAfterMs: 90_000 } });
  await system.create("again-and-again", { throwAfterMs: 100 }, { retry });
  ({ page } = await openPage(browser, `${system.url}/observers`));
  await untilLive(page);
}, 240_000);
afterAll(() => system?.close());

const row = (name: string) => page.getByRole("row").filter({ hasText: name });
const textOf = (name: string) => row(name).first().textContent();
const namesShown = async (): Promise<string[]> => {
  const names = await page.getByRole("gridcell").getByRole("link").allTextContents();
  return names.map((name) => name.trim());
};

describe("silence and history on the page", () => {
  test("an observer is created with its limits, and shown as silent, for how long, and by itself", async () => {
    await page.getByRole("button", { name: "New observer" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Type").selectOption("stamp");
    await form.getByLabel("Name").fill("deaf");
    await form.getByText("Advanced: errors, silence, start").click();
    await form.getByLabel("Warn when silent for").fill("half a minute");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("must be a number of seconds, 1 or more").waitFor();
    await form.getByLabel("Warn when silent for").fill("3");
    await form.getByLabel("Restart when silent for").fill("2");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("restartAfterMs is less than warnAfterMs", { exact: false }).waitFor();
    await form.getByLabel("Warn when silent for").fill("1");
    await form.getByLabel("Restart when silent for").fill("");
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("deaf was created.").waitFor();
    expect((await system.get("deaf")).silence).toEqual({ warnAfterMs: 1_000 });

    await expect.poll(() => textOf("deaf"), POLL).toMatch(/Silent.*stamp.*alpha.*default[1-9]\d* s/);
    expect(await textOf("heard-0")).toContain("Processing");
    await page.getByRole("button", { name: /^Silent \d+$/ }).click();
    await expect.poll(namesShown, POLL).toEqual(["deaf"]);
    expect(page.url()).toContain("silent=true");
    await looksFine(page, "observers-silent");
    await page.getByRole("button", { name: /^Silent \d+$/ }).click();
  });

  test.runIf(isTurnOf(2))("the list is sorted by any column, either way, and so is the address", async () => {
    const sortBy = (column: string) => page.getByRole("columnheader", { name: column }).getByRole("button").click();
    const sorted = ["again-and-again", "deaf", "heard-0", "heard-1", "heard-2"];
    await sortBy("Name");
    await expect.poll(namesShown, POLL).toEqual(sorted);
    await sortBy("Name");
    await expect.poll(namesShown, POLL).toEqual(sorted.toReversed());
    expect(page.url()).toContain("sort=-name");
    await page.reload();
    await untilLive(page);
    await expect.poll(namesShown, POLL).toEqual(sorted.toReversed());
    await sortBy("Name");
    expect(page.url()).not.toContain("sort=");
    await sortBy("Restarts");
    await expect.poll(async () => (await namesShown())[0], POLL).toBe("again-and-again");
    expect(await page.getByRole("columnheader", { name: "Restarts" }).getAttribute("aria-sort")).toBe("descending");
    await sortBy("Silent for");
    await expect.poll(async () => (await namesShown())[0], POLL).toBe("deaf");
  });

  test.runIf(isTurnOf(2))("grouped by a type, a service or a label; each group leads to its list", async () => {
    await page.getByLabel("Group by").selectOption("type");
    const groups = page.getByRole("region", { name: "Groups" });
    await expect.poll(() => groups.getByRole("row").nth(1).textContent(), POLL).toMatch(/^stamp5/);
    expect(page.url()).toContain("group=type");
    await looksFine(page, "observers-grouped");
    await page.getByLabel("Group by").selectOption("service");
    await groups.getByRole("link", { name: "alpha" }).click();
    await expect.poll(async () => (await namesShown()).length, POLL).toBe(5);
    expect(page.url()).toContain("service=alpha");
    await page.getByRole("button", { name: "Clear" }).click();
  });

  test.runIf(isTurnOf(0))("its own page tells since when, what happened to it, and who made it", async () => {
    await page.goto(`${system.url}/observers/deaf`);
    await page.getByText("warns after 1 s").waitFor();
    const timeline = page.getByRole("region", { name: "Timeline" });
    await expect
      .poll(() => timeline.getByRole("rowheader").allTextContents(), POLL)
      .toEqual([expect.stringContaining("silent"), expect.stringContaining("started"), expect.stringContaining("created")]);
    expect(await timeline.getByRole("row").nth(1).textContent()).toMatch(/silent for \d+ s/);
    await looksFine(page, "observer-timeline");
    await page.goto(`${system.url}/observers/again-and-again`);
    await timeline
      .getByText(/attempt \d+ failed/)
      .first()
      .waitFor();
    expect(await timeline.textContent()).toContain("Error: thrown on request");
  });

  test.runIf(isTurnOf(1))("the open page of one whose time has come says what it waits for", async () => {
    await untilItMayChange(system); // no manager starts anything at a time before it knows that all can
    const inTime = { pool: "nobody", startAt: new Date(Date.now() + 8_000).toISOString() };
    const { status, body } = await system.create("in-time", {}, inTime);
    expect(status, JSON.stringify(body)).toBe(201);
    await page.goto(`${system.url}/observers/in-time`);
    await page.getByText("Scheduled").first().waitFor();
    await page.getByText("a service of pool nobody: none is alive").waitFor();
    await system.remove("in-time");
  });

  test.runIf(isTurnOf(1))(
    "the overview warns of both, and counts by the minute what happened before it was opened",
    async () => {
      await page.goto(`${system.url}/`);
      await page.getByText(/1 observer of pool default runs and is silent: deaf/).waitFor();
      await page.getByText(/began again 5 times or more in 10 minutes/).waitFor();
      const chart = (what: string) => page.getByRole("img", { name: new RegExp(`^${what} by the minute; [1-9]`) });
      for (const what of ["Starts", "Failures", "Emits"]) await chart(what).waitFor();
      await page.getByText("24 h", { exact: true }).click();
      await page.getByRole("img", { name: /^Starts by the minute; .* in the last 24 hours$/ }).waitFor();
      await page.getByText(/^By type and service/).click();
      const table = page.getByRole("table").filter({ hasText: "Type" });
      await table.getByRole("rowheader", { name: "stamp" }).waitFor();
      await looksFine(page, "overview-by-the-minute");
    },
  );
});
