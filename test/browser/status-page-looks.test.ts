import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, NARROW, openPage, POLL, takePicture, untilLive, WIDE } from "../support/browser/browser.ts";
import { rulesIn } from "../support/browser/looks.ts";
import { eventually } from "../support/eventually.ts";
import { inTurn } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;

/** A system with something of everything to see. */
beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  await system.startManager();
  // For a pool that no service serves: it waits.
  await system.call("POST", "/api/v1/tasks", { type: "resize", params: { width: 320 }, pool: "pictures" });
  await Promise.all(["prices-1", "prices-2"].map(startPrices));
  await system.createMany("btc-usd", 9, SAYS, { labels: { team: "prices" } });
  await system.create("flaky", { throwAfterMs: 20, throwTimes: 3 });
  await system.create("broken-feed", { throwAfterMs: 10 });
  for (const name of ["given-up", "given-up-too"])
    await system.create(name, { throwAfterMs: 10 }, { retry: { maxAttempts: 1 } });
  await system.create("wrong-params", { everyMs: 1 }, { pool: "elsewhere", whenFull: "queue" });
  await system.create("done", { returnAfterMs: 20 });
  await system.untilStatus(["given-up", "given-up-too"], "Failed");
  await system.untilStatus(["done"], "Completed");
  await system.service("prices-2").kill("SIGKILL");
  await startPrices("prices-2");
  await system.startService("spare-1", { workers: 4 });
  await system.call("POST", "/api/v1/services/spare-1/drain");
  await system.untilStatus(["btc-usd-0", "btc-usd-8"], "Processing");
});
afterAll(() => system?.close());

/** Acts are not judged here: no file for them, whose path would stand in the pictures. */
const SAYS = { file: undefined, everyMs: 1_000, sayEveryMs: 700, sayHow: "varied" };

const startPrices = (name: string) => system.startService(name, { workers: 12, env: { LOG_LEVEL: "debug" } });

const listOfTasks = (page: Page) => page.getByRole("region", { name: "Tasks", exact: true });

interface Shown {
  name: string;
  address: string;
  /** What stands there once it is drawn. */
  until: (page: Page) => Promise<unknown>;
}

const SHOWN: Shown[] = [
  {
    name: "overview",
    address: "/",
    until: (page) => page.getByText("All 3 observers that fail").or(page.getByText("given-up-too")).first().waitFor(),
  },
  { name: "observers", address: "/observers", until: (page) => page.getByRole("row").nth(5).waitFor() },
  {
    name: "observers-none",
    address: "/observers?q=nothing-like-it",
    until: (page) => page.getByText("No observer matches").waitFor(),
  },
  {
    name: "observers-create",
    address: "/observers",
    until: async (page) => {
      await page.getByRole("button", { name: "New observer" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
      await page.getByText("is required").first().waitFor();
    },
  },
  {
    name: "observers-stop",
    address: "/observers?q=btc",
    until: async (page) => {
      await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("dialog", { name: "Stop 9 observers?" }).waitFor();
    },
  },
  {
    name: "observer",
    address: "/observers/btc-usd-0",
    until: async (page) => {
      await page.getByText("passed over").first().waitFor();
      await page.getByText("bids").first().waitFor();
    },
  },
  {
    name: "observer-failed",
    address: "/observers/given-up",
    until: async (page) => {
      await page.getByText("its attempts were used up").first().waitFor();
      await page.getByText("nothing more comes").first().waitFor();
      await page.getByRole("region", { name: "Last error" }).getByText("Stack", { exact: true }).click();
    },
  },
  { name: "observer-moved", address: "/observers/flaky", until: (page) => page.getByRole("row").nth(1).waitFor() },
  {
    name: "observer-missing",
    address: "/observers/nobody",
    until: (page) => page.getByText("There is no observer nobody").waitFor(),
  },
  { name: "tasks", address: "/tasks", until: (page) => listOfTasks(page).getByRole("row").nth(1).waitFor() },
  {
    name: "task",
    address: "/tasks",
    until: async (page) => {
      await listOfTasks(page).getByRole("row").nth(1).getByRole("link").click();
      await page.getByRole("group", { name: "Params as JSON" }).getByText("320").waitFor();
    },
  },
  {
    name: "services",
    address: "/services",
    until: async (page) => {
      await page.getByText(/Drained$/).waitFor();
      await page.getByRole("button", { name: "Show" }).click();
      await page.getByRole("cell", { name: "Gone", exact: true }).or(page.getByText("None has ended")).waitFor();
    },
  },
  {
    name: "services-drain",
    address: "/services",
    until: async (page) => {
      await page.getByRole("button", { name: "Drain prices-1" }).click();
      await page.getByRole("dialog").getByText("free workers").waitFor();
    },
  },
  {
    name: "errors",
    address: "/errors",
    until: async (page) => {
      await page.getByRole("button", { name: /^Show/ }).first().click();
      await page.getByRole("button", { name: "Remove" }).first().waitFor();
    },
  },
];

describe.each(["light", "dark"] as const)("every page in %s", (colorScheme) => {
  test("has nothing that axe objects to, breaks no Content-Security-Policy, asks no other host; wide and narrow", async () => {
    const { page, problems, foreign } = await openPage(browser, system.url, { colorScheme });
    const found: string[] = [];
    for (const { name, address, until } of inTurn(SHOWN)) {
      await page.setViewportSize(WIDE);
      await page.goto(`${system.url}${address}`);
      await untilLive(page);
      await until(page);
      for (const [width, viewport] of [
        ["wide", WIDE],
        ["narrow", NARROW],
      ] as const) {
        await page.setViewportSize(viewport);
        await takePicture(page, `${name}-${colorScheme}-${width}`);
        if (name === "observer") {
          await page.getByRole("log", { name: "Log" }).scrollIntoViewIfNeeded();
          await takePicture(page, `${name}-log-${colorScheme}-${width}`);
        }
        for (const violation of await violationsOf(page, rulesIn(colorScheme))) found.push(`${name} ${width}: ${violation}`);
        const sideways = await sidewaysPx(page);
        if (sideways > 0) found.push(`${name} ${width}: scrolls sideways by ${sideways} px`);
      }
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
  }, 240_000);
});

test("on a narrow screen the page that is shown is seen among the pages, the last one too", async () => {
  const { page } = await openPage(browser, `${system.url}/audit`, { viewport: NARROW });
  const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Audit" });
  await expect
    .poll(async () => {
      const { x = -1, width = 0 } = (await link.boundingBox()) ?? {};
      return x >= 0 && x + width <= NARROW.width;
    }, POLL)
    .toBe(true);
});

/** How far the whole page can be moved to the side. */
const sidewaysPx = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");

test("a service that is killed with -9 shows on the overview as it happens: interruptions counted, its bar gone", async () => {
  const { page } = await openPage(browser, system.url);
  await untilLive(page);
  await page.getByRole("meter", { name: "Workers of prices-1" }).waitFor();
  await system.service("prices-1").kill("SIGKILL");
  await page.getByRole("img", { name: /^Interruptions by the minute; [1-9]/ }).waitFor();
  await page.getByRole("meter", { name: "Workers of prices-1" }).waitFor({ state: "detached" });
  const workers = page.getByRole("meter", { name: "Workers of prices-2" });
  await expect.poll(() => workers.getAttribute("aria-valuetext"), POLL).toMatch(/^1[0-2] of 12/);
  await takePicture(page, "overview-failover");
});

test("what is read out on the overview is how it stands, without the counts that change all the time", async () => {
  const { page } = await openPage(browser, system.url);
  const verdict = page.getByRole("region", { name: "How it stands" });
  await verdict.getByText(/\d workers free/).waitFor();
  expect(await verdict.getByRole("status").textContent()).toMatch(
    /warnings?, \d+ observers? failed(, \d+ observers? retrying)?$/,
  );
});

test("times are local, with the exact UTC when pointed at", async () => {
  const { page } = await openPage(browser, `${system.url}/observers/given-up`, {
    timezoneId: "Asia/Kolkata",
    locale: "en-GB",
  });
  const time = page.locator("time").first();
  await time.waitFor();
  const utc = await time.getAttribute("datetime");
  expect(await time.getAttribute("title")).toBe(`${utc?.slice(0, 10)} ${utc?.slice(11, 23)} UTC`);
  const local = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: "Asia/Kolkata" });
  await eventually(async () => expect(await time.textContent()).toContain(local.format(new Date(utc ?? ""))));
});
