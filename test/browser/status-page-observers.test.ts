import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { holdUp } from "../support/browser/held-call.ts";
import { looksFine } from "../support/browser/looks.ts";
import { ROOT } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { untilItMayChange } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  await system.startManager();
  await Promise.all(["alpha", "beta"].map((name) => system.startService(name, { workers: 120 })));
  ({ page } = await openPage(browser, `${system.url}/observers`));
  await untilLive(page);
});
afterAll(() => system?.close());

const row = (name: string) => page.getByRole("row").filter({ hasText: name });
const textOf = (name: string) => row(name).first().textContent();

describe("the list of observers", () => {
  test("is empty, and says what an observer is", async () => {
    await page.getByText("No observer yet").waitFor();
  });

  test("a form made from the type's schema tells mistakes at their fields, the page's own and the manager's", async () => {
    await page.getByRole("button", { name: "New observer" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("everyMs", { exact: true }).fill("often");
    await form.getByRole("button", { name: "Create" }).click();
    const name = form.getByLabel("Name");
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    expect(await name.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    await form.getByText("must be a number").waitFor();

    await name.fill("no spaces allowed");
    await form.getByLabel("everyMs", { exact: true }).fill("50");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("only A-Z a-z 0-9").waitFor();
    await form.getByLabel("Labels").fill("team");
    await form.getByRole("button", { name: "Create" }).click();
    expect(await form.getByLabel("Labels").getAttribute("aria-invalid")).toBe("true");
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
  });

  test.runIf(isTurnOf(0))(
    "how it is tried again and when it starts are folded away, and unfold where they are wrong",
    async () => {
      await page.getByRole("button", { name: "New observer" }).click();
      const form = page.getByRole("dialog");
      const retry = form.getByLabel("On an error");
      expect(await retry.isVisible()).toBe(false);
      await form.getByText("Advanced").press("Enter");
      await form.getByLabel("Name").fill("later");
      await retry.fill("five times");
      await form.getByLabel("Starts at").fill("2099-01-04T09:30:00");
      await form.getByText("Advanced").click();
      await retry.waitFor({ state: "hidden" });
      await form.getByRole("button", { name: "Create" }).click();
      await form.getByText(/is not JSON/).waitFor();
      expect(await retry.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
      await retry.fill('{ "maxAttempts": 0 }');
      await form.getByRole("button", { name: "Create" }).click();
      await form.getByText(/^\/maxAttempts: /).waitFor();
      await looksFine(page, "create-advanced");
      await retry.fill('{ "maxAttempts": 3, "delaysMs": [50] }');
      await untilItMayChange(system); // no manager starts anything at a time before it knows that all can
      await form.getByRole("button", { name: "Create" }).click();
      await page.getByText("later was created, and starts at its time.").waitFor();
      const startAt = new Date(await page.evaluate<string>("new Date('2099-01-04T09:30:00').toISOString()")).toISOString();
      const retryOf = { maxAttempts: 3, delaysMs: [50], resetAfterMs: 600_000 };
      expect(await system.get("later")).toMatchObject({ status: "Scheduled", startAt, retry: retryOf });
      await system.remove("later");
    },
  );

  test("one that nobody has a worker for is refused in the form, with what to do, and nothing written is lost", async () => {
    await page.getByRole("button", { name: "New observer" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("patient");
    await form.getByLabel("Pool").fill("elsewhere");
    await form.getByRole("button", { name: "Create" }).click();
    await form
      .getByRole("alert")
      .getByText(/free worker|service/i)
      .first()
      .waitFor();
    expect(await form.getByLabel("Name").inputValue()).toBe("patient");
    await form.getByLabel("Pool").fill("default");
    const asked = await holdUp(page, "POST", /\/api\/v1\/observers(\?|$)/);
    await form.getByRole("button", { name: "Create" }).click();
    await asked.untilHeld;
    await page.keyboard.press("Escape"); // nobody leaves it before it is known what became of the call
    expect(await form.getByRole("button", { name: "Back" }).isDisabled()).toBe(true);
    asked.letGo();
    await expect.poll(() => textOf("patient"), POLL).toContain("Processing");
    await system.remove("patient"); // it has no file for its acts
  });

  test("one that was created there becomes Processing without a reload, and its name is taken from then on", async () => {
    await page.getByRole("button", { name: "New observer" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("made-by-hand");
    await form.getByRole("button", { name: "Create" }).click();
    await expect.poll(() => textOf("made-by-hand"), POLL).toContain("Processing");
    expect(await system.get("made-by-hand")).toMatchObject({ status: "Processing", params: { everyMs: 20 } });

    await page.getByRole("button", { name: "New observer" }).click();
    await form.getByLabel("Name").fill("made-by-hand");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("is taken").waitFor();
    await page.keyboard.press("Escape");
  });

  test("one whose service is killed with -9 moves before one's eyes", async () => {
    const { service } = await system.get("made-by-hand");
    const [dead = "", other = ""] = service?.name === "alpha" ? ["alpha", "beta"] : ["beta", "alpha"];
    expect(await textOf("made-by-hand")).toContain(dead);
    await system.service(dead).kill("SIGKILL");
    await expect.poll(() => textOf("made-by-hand"), POLL).toMatch(new RegExp(`Processing.*${other}`));
    await system.startService(dead, { workers: 120 });
  });

  test.runIf(isTurnOf(1))(
    "a manager of before, which knows no list by columns, shows them as well: managers are replaced one by one",
    async () => {
      const context = await browser.newContext();
      const other = await context.newPage();
      const problem = { code: "not-found", title: "x", status: 404, detail: "x", remedy: "x" };
      const asked: string[] = [];
      await other.route(/observer-columns/, async (route) => {
        asked.push(route.request().url());
        await route.fulfill({ status: 404, contentType: "application/problem+json", body: JSON.stringify(problem) });
      });
      await other.goto(`${system.url}/observers`);
      await other.getByRole("row").filter({ hasText: "made-by-hand" }).waitFor();
      await other.getByText(/^\d+ shown$/).waitFor();
      expect(asked).not.toEqual([]);
      await context.close();
    },
  );

  test("200 are stopped at once by a filter that stands in the address", async () => {
    const crowd = await system.createCrowd("crowd", 200, { everyMs: 250 });
    await page.getByRole("searchbox", { name: "Name" }).fill("crowd");
    await page.getByRole("button", { name: /^Processing/ }).click();
    await expect.poll(() => page.url(), POLL).toMatch(/\/observers\?status=Processing&q=crowd$/);
    await page.getByText("200 shown").waitFor();
    await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
    await page.getByText("200 observers chosen").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("dialog", { name: "Stop 200 observers?" }).getByRole("button", { name: "Stop" }).click();
    await page.getByText("200 observers being stopped").waitFor();
    await page.getByText("No observer matches").waitFor();
    await page.getByRole("button", { name: "Show all that live" }).click();
    await row("made-by-hand").waitFor();
    await system.untilStatus(crowd, "Deleted");
    for (const id of crowd) system.isOver(id);
  });

  test.runIf(isTurnOf(1))(
    "attempts are the same number, and in the same order, on the page, in REST and at the command line",
    async () => {
      const throwing = (throwTimes: number) => ({ throwAfterMs: 5, throwTimes });
      await system.create("tries-calm", {});
      await system.create("tries-gave-up", throwing(2), { retry: { maxAttempts: 2, delaysMs: [5] } });
      await system.create("tries-again", throwing(1), { retry: { delaysMs: [5] } });
      await system.create("tries-waits", throwing(3), { retry: { delaysMs: [5, 5, 600_000] } });
      const expected = ["tries-waits 3", "tries-again 2", "tries-gave-up 2", "tries-calm 1"];
      const told = async () => {
        const listed = await system.listObservers("&q=tries-&sort=attempts");
        return listed.map(({ name, attempts }) => `${name} ${attempts}`);
      };
      await expect.poll(told, POLL).toEqual(expected);
      await expect.poll(async () => (await system.get("tries-again")).status, POLL).toBe("Processing");

      await page.goto(`${system.url}/observers?q=tries-&sort=attempts`);
      await page.getByText("4 shown").waitFor();
      const heads = await page.getByRole("columnheader").allTextContents();
      const column = heads.findIndex((head) => head.startsWith("Attempts"));
      const shown = (await page.getByRole("row").all()).slice(1).map(async (each) => {
        const cells = await each.getByRole("gridcell").allTextContents();
        return `${cells[1]} ${cells[column]}`;
      });
      expect(await Promise.all(shown)).toEqual(expected);

      const { out } = await runCli(["get", "observers", "--filter", "q=tries-", "--sort", "attempts"], {
        env: { UNACKED_URL: system.url },
        cwd: ROOT,
      });
      const [heading = "", ...lines] = out.trimEnd().split("\n");
      const end = heading.indexOf("ATTEMPTS") + "ATTEMPTS".length;
      expect(lines.map((line) => `${line.split(" ")[0]} ${line.slice(0, end).split(" ").at(-1)}`)).toEqual(expected);
      for (const line of expected) await system.remove(line.split(" ")[0] ?? "");
      await page.goto(`${system.url}/observers`);
      await untilLive(page);
    },
  );

  test.runIf(isTurnOf(2))(
    "labels in the address mean what they mean to REST, and what is no label shows nothing and says so",
    async () => {
      const labelled = { "lab-both": { team: "a:b", tier: "x" }, "lab-one": { team: "a:b" }, "lab-other": { team: "c" } };
      for (const [name, labels] of Object.entries(labelled)) await system.create(name, {}, { labels });
      for (const search of [
        "label=team=a:b",
        "label=team:a:b&label=tier=x",
        "label=team:c",
        "label=team=c&label=team=a:b",
      ]) {
        const listed = await system.listObservers(`&${search}`);
        await page.goto(`${system.url}/observers?${search}`);
        await page.getByText(`${listed.length} shown`).waitFor();
        expect(await page.getByRole("row").getByRole("link").allTextContents()).toEqual(listed.map(({ name }) => name));
      }
      await page.goto(`${system.url}/observers?label=team`);
      await page.getByText("must be key=value or key:value").waitFor();
      expect(await page.getByRole("link", { name: /^lab-/ }).count()).toBe(0);
      await page.getByLabel("Labels").fill("team:a:b, tier=x");
      await page.getByText("1 shown").waitFor();
      expect(new URL(page.url()).searchParams.getAll("label")).toEqual(["team:a:b", "tier=x"]);
      for (const name of Object.keys(labelled)) await system.remove(name);
      await page.goto(`${system.url}/observers`);
      await untilLive(page);
    },
  );

  test("all that match are those of the filter under which they were chosen, and of none that is set afterwards", async () => {
    const names = ["whole-a-0", "whole-a-1", "whole-b"];
    for (const name of names) await system.create(name);
    const search = page.getByRole("searchbox", { name: "Name" });
    await search.fill("whole-a");
    await page.getByText("2 shown").waitFor();
    await page.getByRole("grid", { name: "Observers" }).focus();
    await page.keyboard.press("Control+a");
    await page.getByRole("button", { name: "Choose all 2 that match" }).click();
    await page.getByText("All 2 that match chosen").waitFor();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Chosen observers");
    // Whoever joins them is among them, also under an open dialog.
    await page.getByRole("button", { name: "Restart", exact: true }).click();
    await page.getByRole("dialog", { name: "Restart all that match, 2 observers now?" }).waitFor();
    names.push("whole-a-2");
    await system.create("whole-a-2");
    await page.getByRole("dialog", { name: "Restart all that match, 3 observers now?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("All 3 that match chosen").waitFor();
    await search.fill("whole-b");
    await page.getByText("1 shown").waitFor();
    await page.getByText("2 observers chosen").waitFor();
    // The one that is shown is not among them.
    expect(await page.getByRole("button", { name: /that match/ }).count()).toBe(0);
    expect(await page.getByRole("checkbox", { name: "Choose all that are shown" }).isChecked()).toBe(false);
    for (const name of names) await system.remove(name);
    await page.goto(`${system.url}/observers`);
    await untilLive(page);
  });

  test("the row in its place takes over for the keys when the active one leaves the list", async () => {
    const [, second] = await system.createMany("leaves", 3);
    await page.getByRole("searchbox", { name: "Name" }).fill("leaves");
    await page.getByText("3 shown").waitFor();
    // A button that is closed by its own press keeps the focus near.
    await page.getByRole("button", { name: "Clear" }).press("Enter");
    await expect
      .poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"), POLL)
      .toBe("Filter observers");
    await page.getByRole("searchbox", { name: "Name" }).fill("leaves");
    await page.getByText("3 shown").waitFor();
    await page.getByRole("grid", { name: "Observers" }).focus();
    for (const key of ["Home", "ArrowDown"]) await page.keyboard.press(key);
    await system.remove("leaves-1");
    await page.getByText("2 shown").waitFor();
    await page.keyboard.press("Space");
    await page.getByText("1 observer chosen").waitFor();
    expect(await page.getByRole("row", { selected: true }).getByRole("link").allTextContents()).toEqual(["leaves-0"]);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "leaves-2" }).waitFor();
    expect(await system.get(second?.id ?? "")).toMatchObject({ status: "Deleted" });
    for (const name of ["leaves-0", "leaves-2"]) await system.remove(name);
    await page.goto(`${system.url}/observers`);
    await untilLive(page);
  });

  test("after a click on a box the keys of the list go on from there", async () => {
    await system.createMany("boxes", 3);
    await page.getByRole("searchbox", { name: "Name" }).fill("boxes");
    await page.getByText("3 shown").waitFor();
    await row("boxes-1").getByRole("checkbox").click();
    await page.getByText("1 observer chosen").waitFor();
    await page.keyboard.press("Shift+ArrowDown");
    await page.getByText("2 observers chosen").waitFor();
    const chosen = () => page.getByRole("row", { selected: true }).getByRole("link").allTextContents();
    expect(await chosen()).toEqual(["boxes-1", "boxes-0"]);
    await page.getByRole("checkbox", { name: "Choose all that are shown" }).click();
    await page.getByText("3 observers chosen").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("None chosen", { exact: true }).waitFor();
    for (const name of ["boxes-0", "boxes-1", "boxes-2"]) await system.remove(name);
    await page.goto(`${system.url}/observers`);
    await untilLive(page);
  });

  test("by the keyboard alone: search, choose a range, stop it, open one", async () => {
    const keys = (await system.createMany("keys", 3)).map((one) => one.id);
    await page.getByRole("heading", { name: "Observers" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("keys");
    await page.getByText("3 shown").waitFor();
    await tabTo("grid");
    for (const key of ["Home", "Space", "Shift+ArrowDown"]) await page.keyboard.press(key);
    await page.getByText("2 observers chosen").waitFor();
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    for (let past = 0; past < 5 && !(await focused()).startsWith("Stop"); past += 1) await page.keyboard.press("Shift+Tab");
    expect(await focused()).toMatch(/^Stop/);
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Stop 2 observers?" });
    await dialog.waitFor();
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.closest('[aria-modal]') !== null"), "the focus in it").toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("1 shown").waitFor();
    await tabTo("grid");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "keys-0" }).waitFor();
    await page.goBack();
    await row("keys-0").waitFor();
    await system.untilStatus(keys.slice(1), "Deleted");
    for (const id of keys.slice(1)) system.isOver(id);
    await system.remove("made-by-hand"); // it has no file for its acts
    await system.check();
  });

  // After the check: a pool that nobody serves has no queue that could be held against the books.
  test("of all that match only those are stopped by force that no other stop ends", async () => {
    await page.goto(`${system.url}/observers`);
    await untilLive(page);
    await untilItMayChange(system);
    await system.create("forced-runs");
    await system.create("forced-waits", {}, { pool: "elsewhere", whenFull: "queue" });
    await page.getByRole("searchbox", { name: "Name" }).fill("forced");
    await page.getByText("2 shown").waitFor();
    await expect.poll(() => textOf("forced-runs"), POLL).toContain("Processing");
    await page.getByRole("grid", { name: "Observers" }).focus();
    await page.keyboard.press("Control+a");
    await page.getByRole("button", { name: "Choose all 2 that match" }).click();
    await page.getByRole("button", { name: "Force stop 1" }).click();
    const dialog = page.getByRole("dialog", { name: "Force stop all that match and need it, 1 observer now?" });
    await dialog.getByRole("button", { name: "Force stop" }).click();
    await page.getByText("1 of 1").waitFor();
    // How far it is changes each second: it is not read out.
    const readOut = page.getByRole("main").getByRole("status");
    await expect.poll(() => readOut.allTextContents(), POLL).toEqual([expect.stringMatching(/^Done: /)]);
    expect((await system.listObservers("&q=forced")).map(({ name, status }) => [name, status])).toEqual([
      ["forced-waits", "Deleted"],
      ["forced-runs", "Processing"],
    ]);
  });
});

async function tabTo(role: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await page.evaluate("document.activeElement.getAttribute('role')")) === role) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the Tab key never came to ${role}`);
}
