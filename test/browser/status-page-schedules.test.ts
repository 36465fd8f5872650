import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, openPage, untilLive, WIDE } from "../support/browser/browser.ts";
import { holdUp } from "../support/browser/held-call.ts";
import { looksFine } from "../support/browser/looks.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let browser: Browser;
let page: Page;
let tasks: Tasks;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem(), launchBrowser()]);
  await system.startManager();
  await system.startService("worker", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "4" } });
  tasks = new Tasks(system);
  ({ page } = await openPage(browser, `${system.url}/schedules`, { timezoneId: "Europe/Berlin" }));
  await untilLive(page);
});
afterAll(() => system?.close());

async function put(id: string, schedule: object): Promise<void> {
  const { status, body } = await system.call("PUT", `/api/v1/schedules/${id}`, schedule);
  expect(status, JSON.stringify(body)).toBe(201);
}

const work = (params: object = {}) => ({ type: "work", params: { dir: tasks.dir, ...params } });
const row = (id: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name: id, exact: true }) });
const occurrences = () => page.getByRole("group", { name: "Occurrences" });
const open = async (address: string) => {
  await page.goto(`${system.url}${address}`);
  await untilLive(page);
};

test("without schedules the page says how to have one", async () => {
  await page.getByText("There are no schedules yet").waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test("a schedule is made on the page, which shows its next times first, and says what is wrong where", async () => {
  await page.getByRole("button", { name: "New schedule" }).click();
  const dialog = page.getByRole("dialog");
  const button = await dialog.getByRole("button", { name: "Create it" }).boundingBox();
  expect((button?.y ?? Infinity) + (button?.height ?? 0), "its lower edge").toBeLessThanOrEqual(WIDE.height);
  await dialog.getByRole("button", { name: "Create it" }).click();
  await dialog.getByText("is needed").waitFor();
  await dialog.getByText("Some of it cannot be.", { exact: true }).waitFor();
  await dialog.getByLabel("Id").fill("reports.daily");
  await dialog.getByLabel("Cron").fill("0 25 * * *");
  await dialog.getByRole("status").getByText(/hour/i).waitFor();
  await dialog.getByLabel("Cron").fill("30 7 * * *");
  await dialog.getByRole("listitem").filter({ hasText: "7:30:00" }).nth(4).waitFor();
  await dialog.getByLabel("Task type").fill("work");
  await dialog.getByLabel("Pool").fill("no such pool");
  await dialog.getByRole("button", { name: "Create it" }).click();
  await dialog.getByText("only A-Z a-z 0-9 _ - are allowed").waitFor();
  await dialog.getByLabel("Pool").fill("default");
  await dialog.getByLabel("Params").fill("{");
  await dialog.getByRole("button", { name: "Create it" }).click();
  await dialog.getByText("Some of it cannot be.").waitFor();
  await looksFine(page, "schedule-create");
  await dialog.getByLabel("Params").fill(JSON.stringify({ dir: tasks.dir }));
  await dialog.getByRole("button", { name: "Create it" }).click();
  await page.getByRole("heading", { name: "reports.daily" }).waitFor();
  await page.getByText("30 7 * * * · Europe/Berlin").waitFor();
});

test("the list shows what is due next, and what became of the last time", async () => {
  await put("each-second", { everyMs: 1_000, task: work(), keep: 100 });
  await put("fails", { everyMs: 2_000, task: work({ isFinal: true }) });
  const market = [{ days: ["mon", "tue", "wed", "thu", "fri"], from: "09:30", to: "16:00" }];
  await system.create("ticks-nyse");
  await put("market", {
    hours: market,
    timeZone: "America/New_York",
    observers: { names: ["ticks-nyse"], wanted: "running" },
  });
  await open("/schedules");
  await row("each-second").getByRole("cell", { name: "every 1 s" }).waitFor();
  await row("market").getByRole("cell", { name: "mon tue wed thu fri 09:30–16:00 · America/New_York" }).waitFor();
  await row("fails")
    .getByRole("cell", { name: /started|Failed/ })
    .waitFor();
  await looksFine(page, "schedules");
});

test.runIf(isTurnOf(0))("what became of each time is a strip, and a table that leads to its task", async () => {
  await open("/schedules/fails");
  await occurrences().getByRole("cell", { name: "Failed", exact: true }).first().waitFor();
  await page.getByRole("img", { name: /^The last \d+ times?: .*Failed/ }).waitFor();
  await looksFine(page, "schedule-strip");
  await occurrences().getByRole("link", { name: "its task" }).last().click();
  await page.getByText("NonRetryableError: it will never do").first().waitFor();
});

test.runIf(isTurnOf(1))("it is paused, run by hand, and goes on", async () => {
  await open("/schedules/reports.daily");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused: nothing of it starts until it is resumed").waitFor();
  await page.getByRole("button", { name: "Run now" }).dblclick(); // as many do: it is run once
  await occurrences().getByRole("cell", { name: "Completed", exact: true }).first().waitFor(); // it may be 7:30 in Berlin
  await occurrences()
    .getByText(/^by hand/)
    .waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("Active: goes on by the calendar").waitFor();
});

test.runIf(isTurnOf(2))(
  "who asks again for a run whose answer was lost has one; a good while later they mean another",
  async () => {
    await put("by-hand", { everyMs: 3_600_000, task: work() });
    await open("/schedules/by-hand");
    const run = page.getByRole("button", { name: "Run now" });
    const byHand = occurrences().getByText(/^by hand/);
    const loseAnswer = async () => {
      await page.route(
        /\/by-hand\/run$/,
        async (route) => {
          await route.fetch();
          await route.abort();
        },
        { times: 1 },
      );
      await run.click();
      await page.getByText("The manager cannot be reached").waitFor();
      await page.getByRole("button", { name: "Dismiss" }).click();
    };
    await loseAnswer();
    await byHand.waitFor();
    await run.click();
    await page.getByText("It has started.").waitFor();
    expect(await byHand.count()).toBe(1);
    await page.getByText("It has started.").waitFor({ state: "detached" });

    // A computer that sleeps stops the one, a clock that is set the other.
    for (const [place, clock] of ["performance", "Date"].entries()) {
      await loseAnswer();
      await byHand.nth(2 * place + 1).waitFor();
      await page.evaluate(`{ const now = ${clock}.now.bind(${clock}); ${clock}.now = () => now() + 61_000; }`);
      await run.click();
      await page.getByText("It has started.").waitFor();
      await byHand.nth(2 * place + 2).waitFor();
      await page.getByText("It has started.").waitFor({ state: "detached" });
    }
  },
);

test.runIf(isTurnOf(1))("the calendar shows two weeks by the schedule's clock, and the table both clocks", async () => {
  await open("/schedules/market");
  await page.getByRole("img", { name: /^The next 14 days: .*running 09:30–16:00/ }).waitFor();
  await page.getByText("By the clock of America/New_York.").waitFor();
  await page.getByText(/^The next \d+ times$/).click();
  const times = page.getByRole("group", { name: "The next times" });
  await times
    .getByText(/T?09:30:00-0[45]:00/)
    .first()
    .waitFor();
  await times
    .getByText(/3:30:00 PM|2:30:00 PM/)
    .first()
    .waitFor();
  await looksFine(page, "schedule-market");
});

test.runIf(isTurnOf(2))("a backfill says first what it would start, and by which expression", async () => {
  await open("/schedules/reports.daily");
  await page.getByRole("button", { name: "Backfill" }).click();
  const dialog = page.getByRole("dialog");
  const nowMs = Date.now();
  const day = (days: number) => new Date(nowMs - days * 86_400_000).toISOString().slice(0, 10);
  await dialog.locator("input[type=datetime-local]:focus").waitFor();
  await dialog.getByLabel("From").fill(`${day(4)}T00:00`);
  await dialog.getByLabel("To").fill(`${day(1)}T00:00`);
  // What is said of a window that has been changed meanwhile is not taken for the new one.
  const asked = await holdUp(page, "POST", /\/backfill/);
  await dialog.getByLabel("To").press("Enter");
  await asked.untilHeld;
  await dialog.getByLabel("From").fill(`${day(9)}T00:00`);
  await page.keyboard.press("Escape");
  expect(await dialog.getByRole("button", { name: "Back" }).isDisabled()).toBe(true);
  asked.letGo();
  await dialog.locator("button:not([aria-disabled])", { hasText: "What would it start?" }).waitFor();
  expect(await dialog.getByText(/By 30 7/).count()).toBe(0);
  expect(await dialog.getByRole("button", { name: "Start it" }).isDisabled()).toBe(true);
  await dialog.getByLabel("From").fill(`${day(4)}T00:00`);
  await dialog.getByText(/By 30 7 \* \* \* \(Europe\/Berlin\): 3 times/).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Start it" }).click();
  await occurrences()
    .getByText(/^backfill/)
    .nth(2)
    .waitFor();
});

test("it is deleted", async () => {
  await open("/schedules/each-second");
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  const asked = await holdUp(page, "DELETE", /\/api\/v1\/schedules\/each-second$/);
  await dialog.getByRole("button", { name: "Delete it" }).click();
  await asked.untilHeld;
  // Nobody leaves it before it is known what became of the call.
  await page.keyboard.press("Escape");
  expect(await dialog.getByRole("button", { name: "Back" }).isDisabled()).toBe(true);
  asked.letGo();
  await row("market").waitFor();
  expect(await row("each-second").count()).toBe(0);
});

test("one that somebody else deletes is not shown as it was before", async () => {
  await put("short-lived", { everyMs: 3_600_000, task: work() });
  await open("/schedules/short-lived");
  await page.getByText("Active: goes on by the calendar").waitFor();
  expect((await system.call("DELETE", "/api/v1/schedules/short-lived")).status).toBe(204);
  await page.getByText("There is no such schedule").waitFor();
});
