import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser.ts";
import { freshSystem, type System } from "../support/system.ts";

let system: System;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 2 }), launchBrowser()]);
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
    await form.getByRole("button", { name: "Create" }).click();
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

  test("by the keyboard alone: search, choose a range, stop it, open one", async () => {
    const keys = (await system.createMany("keys", 3)).map((one) => one.id);
    await page.getByRole("heading", { name: "Observers" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("keys");
    await page.getByText("3 shown").waitFor();
    await tabTo("grid");
    for (const key of ["Home", "Space", "Shift+ArrowDown"]) await page.keyboard.press(key);
    await page.getByText("2 observers chosen").waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab"); // past Restart
    expect(await page.evaluate("document.activeElement.textContent")).toContain("Stop");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Stop 2 observers?" });
    await dialog.waitFor();
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
});

async function tabTo(role: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await page.evaluate("document.activeElement.getAttribute('role')")) === role) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the Tab key never came to ${role}`);
}
