import { randomUUID } from "node:crypto";
import type { TimerBatchResults, TimerPage, TimerView } from "@unacked/contracts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TimerListener } from "../support/broker/timer-listener.ts";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, openPage, POLL, takePicture, untilLive } from "../support/browser/browser.ts";
import { looksFine } from "../support/browser/looks.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;
let problems: string[];
let listener: TimerListener;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem(), launchBrowser()]);
  await system.startManager();
  ({ page, problems } = await openPage(browser, `${system.url}/timers`));
  await untilLive(page);
});
afterAll(async () => {
  await listener?.close().catch(() => undefined);
  await system?.close();
});

const row = (text: string) => page.getByRole("row").filter({ hasText: text });
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const put = async (name: string, more: object = {}) => {
  const body = { name, at: inMs(7_500_000), payload: null, ...more };
  return (await system.call<TimerView>("PUT", `/api/v1/timers/${randomUUID()}`, body)).body;
};
const list = async (query: string) => (await system.call<TimerPage>("GET", `/api/v1/timers?${query}`)).body;

const focused = (what: string) => page.evaluate<string>(`document.activeElement.${what}`);

test("without timers the page says how to set one", async () => {
  await page.getByText("There are no timers yet").waitFor();
  await page.keyboard.press("Tab");
  expect(await focused("textContent"), "what the first Tab comes to").toBe("Skip to the page");
  expect(await violationsOf(page)).toEqual([]);
});

test("by the keyboard alone one sets a timer, and what is wrong with it is said at its field", async () => {
  await page.getByRole("button", { name: "New timer" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "New timer" });
  await dialog.getByLabel("Payload").fill("{ no json");
  await dialog.getByLabel("Name").press("Enter");
  await dialog.getByText("is needed").waitFor();
  await dialog.getByText("is no JSON").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByLabel("Payload").fill('{"cart":4711}');
  await dialog.getByLabel("Name").fill("a name with blanks");
  await dialog.getByRole("button", { name: "Set it" }).press("Enter");
  await dialog.getByText("only A-Z a-z 0-9 . _ - are allowed").waitFor();
  await dialog.getByLabel("Name").fill("cart.left");
  await takePicture(page, "timers-create-light-wide");
  await dialog.getByRole("button", { name: "Set it" }).press("Enter");
  await row("cart.left").getByText("Waiting").waitFor();
  await row("cart.left")
    .getByText(/^in 59 min|^in 1 h/)
    .waitFor();
  const [made] = (await list("name=cart.left")).items;
  expect(made).toMatchObject({ status: "Waiting", payload: { cart: 4711 } });
  expect(Math.abs(Date.parse(made?.at ?? "") - Date.now() - 3_600_000)).toBeLessThan(120_000);
});

test("timers fire, and come to nothing, while one looks; what went wrong is said", async () => {
  await put("nobody.hears", { at: inMs(0) });
  await row("nobody.hears")
    .getByText(/no queue is bound for its name/)
    .waitFor();
  listener = await TimerListener.listen(system.env.AMQP_URL as string, "t.#");
  await put("t.soon", { at: inMs(1_000) });
  await row("t.soon").getByText("Fired").waitFor();
  await row("t.soon").getByText(/ago$/).first().waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test("a timer is cancelled after a question, by the keyboard", async () => {
  await row("cart.left").getByRole("button", { name: "Cancel cart.left" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Cancel cart.left?" });
  await dialog.getByRole("button", { name: "Cancel the timer" }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Cancel the timer" }).press("Enter");
  await row("cart.left").getByText("Cancelled").waitFor();
  // Its button is gone.
  await expect.poll(() => focused("getAttribute('aria-label')"), POLL).toBe("Timers");
  expect((await list("status=Cancelled")).items.map(({ name }) => name)).toEqual(["cart.left"]);
});

test("the list is narrowed by status and by how names begin, and the address keeps it", async () => {
  await put("shop.a");
  await put("shop.b");
  await put("shopper");
  await page.getByLabel("Name begins with").fill("shop.");
  await page.getByText("2 of 2").waitFor();
  await page.getByLabel("Status").selectOption("Waiting");
  expect(new URL(page.url()).search).toBe("?status=Waiting&prefix=shop.");
  await page.reload();
  await untilLive(page);
  await page.getByText("2 of 2").waitFor();
  await page.getByLabel("Name begins with").fill("shop_");
  await page.getByText("No timer matches").waitFor();
  await page.getByLabel("Name begins with").fill("");
  await page.getByLabel("Status").selectOption("");
});

test.runIf(isTurnOf(0))(
  "among 10,000 it stays at hand: a new one is there at once, and one leafs through them",
  async () => {
    for (let part = 0; part < 2; part += 1) {
      const timers = Array.from({ length: 5_000 }, (_, i) => ({
        id: randomUUID(),
        name: `many.${part}.${i}`,
        at: inMs(86_400_000 + i),
        payload: { i },
      }));
      const { body } = await system.call<TimerBatchResults>("POST", "/api/v1/timers/batch", { timers });
      expect(body.results).toHaveLength(5_000);
    }
    await page.getByText("100 of more than 10,000").waitFor();
    const madeMs = performance.now();
    await put("very.last");
    await row("very.last").waitFor();
    console.log(`a new one among 10,000 is shown after ${(performance.now() - madeMs).toFixed(0)} ms`);
    await page.getByRole("button", { name: "Older ones" }).press("Enter");
    await page.getByText("200 of more than 10,000").waitFor();
    await expect.poll(() => row("very.last").count(), POLL).toBe(0);
    const newer = page.getByRole("button", { name: "Newer ones" });
    await newer.press("Enter");
    await row("very.last").waitFor();
    expect(await newer.isDisabled()).toBe(true); // gone it would take the focus with it
    expect(await newer.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
    // A link leads to another list than the one whose second page is shown: to its first.
    await page.getByLabel("Name begins with").fill("many.");
    expect(await newer.count()).toBe(0);
    await expect.poll(() => row("very.last").count(), POLL).toBe(0);
    await page.getByRole("button", { name: "Older ones" }).click();
    await page.getByText(/^200 of/).waitFor();
    await page.getByRole("link", { name: "Timers", exact: true }).click();
    await row("very.last").waitFor();
    expect(await violationsOf(page)).toEqual([]);
  },
);

test.runIf(isTurnOf(0))("it is legible light and dark, wide and narrow", async () => {
  await page.getByLabel("Name begins with").fill("very"); // of 100 rows axe would look at each, four times
  await row("very.last").waitFor();
  await looksFine(page, "timers");
  expect(problems).toEqual([]);
});
