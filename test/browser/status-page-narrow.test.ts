import { randomUUID } from "node:crypto";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, takePicture, untilLive } from "../support/browser/browser.ts";
import { inTurn } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** In px: a phone, a tablet, and what is still no wide screen. */
const WIDTHS = [375, 768, 1280];
const HEIGHT = 812;
/** What a finger hits. */
const TOUCH = 40;

let system: System;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  await system.startManager();
  await Promise.all(["alpha", "beta"].map((name) => system.startService(name)));
  await system.createMany("a-feed-with-quite-a-long-name", 3);
  await system.create("given-up", { throwAfterMs: 10 }, { retry: { maxAttempts: 1 } });
  await system.call("POST", "/api/v1/tasks", { type: "resize", params: { width: 320 }, pool: "pictures" });
  await system.call("POST", "/api/v1/flows", { name: "imports", stages: ["fetch", "parse"] });
  const timer = { name: "cart.abandoned.by.its.owner", at: "2099-01-01T00:00:00Z", payload: { cart: "x".repeat(90) } };
  await system.call("PUT", `/api/v1/timers/${randomUUID()}`, timer);
  await system.call("PUT", "/api/v1/schedules/reports.daily.of-all-that-was-sold", {
    cron: "30 7 * * *",
    timeZone: "America/Argentina/Buenos_Aires",
    task: { type: "a-report-with-a-long-name" },
  });
  const viewport = { width: 375, height: HEIGHT };
  ({ page } = await openPage(browser, system.url, { viewport, hasTouch: true, isMobile: true }));
  await untilLive(page);
});
afterAll(() => system?.close());

const open = async (address: string): Promise<void> => {
  await page.goto(`${system.url}${address}`);
  await untilLive(page);
};

const boxOf = async (of: Locator) => (await of.boundingBox()) ?? expect.fail("it is not there");

interface Shown {
  address: string;
  until: () => Locator;
}

const SHOWN: Shown[] = [
  { address: "/", until: () => page.getByRole("region", { name: "Observers by status" }) },
  { address: "/observers", until: () => page.getByRole("row").nth(1) },
  { address: "/tasks", until: () => page.getByRole("region", { name: "Tasks", exact: true }) },
  { address: "/flows", until: () => page.getByRole("region", { name: "Flows", exact: true }) },
  { address: "/schedules", until: () => page.getByRole("region", { name: "Schedules", exact: true }) },
  { address: "/timers", until: () => page.getByRole("region", { name: "Timers", exact: true }) },
  { address: "/services", until: () => page.getByRole("button", { name: "Drain beta" }) },
  { address: "/services?view=table", until: () => page.getByRole("button", { name: "Drain beta" }) },
  { address: "/errors", until: () => page.getByRole("heading", { name: "Messages put aside" }) },
  { address: "/audit", until: () => page.getByRole("region", { name: "Audit trail" }) },
];

describe.each(WIDTHS)("at a width of %d px", (width) => {
  test.each(inTurn(SHOWN))(
    "$address does not scroll sideways, and one sees in the navigation where one is",
    async (shown) => {
      const { address, until } = shown;
      await page.setViewportSize({ width, height: HEIGHT });
      await open(address);
      await until().waitFor();
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      await takePicture(page, `width-${width}${address.replaceAll(/\W/g, "-")}`);
      const seen = await page.evaluate<number>("Math.max(window.innerWidth, document.documentElement.scrollWidth)");
      expect(seen).toBe(width);
      const tab = await boxOf(page.getByRole("navigation", { name: "Pages" }).locator("[aria-current=page]"));
      expect(tab.x).toBeGreaterThanOrEqual(0);
      expect(tab.x + tab.width).toBeLessThanOrEqual(width);
    },
  );
});

describe("on a phone", () => {
  beforeAll(() => page.setViewportSize({ width: 375, height: HEIGHT }));

  test.each(["/services", "/services?view=table"])("what ends a service is not hit by mistake: %s", async (address) => {
    await open(address);
    const drain = await boxOf(page.getByRole("button", { name: "Drain alpha" }));
    expect(drain.height).toBeGreaterThanOrEqual(TOUCH);
    const cordon = await boxOf(page.getByRole("button", { name: "Cordon alpha" }));
    expect(cordon.height).toBeGreaterThanOrEqual(TOUCH);
    expect(cordon.x - (drain.x + drain.width)).toBeGreaterThanOrEqual(8);
  });

  test("a new observer is made by a button that is wholly there", async () => {
    await open("/observers");
    const button = await boxOf(page.getByRole("button", { name: "New observer" }));
    expect(button.x + button.width).toBeLessThanOrEqual(375);
  });

  test.each(["Timers", "Schedules"])("the table of %s scrolls in its own box", async (name) => {
    await open(`/${name.toLowerCase()}`);
    const table = page.getByRole("region", { name, exact: true });
    const box = await boxOf(table);
    expect(box.x + box.width).toBeLessThanOrEqual(375);
    expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeGreaterThan(0);
  });
});

test("on a screen of 400 px names that differ at their end alone look different", async () => {
  const [one, other] = ["BTC-USD", "BTC-EUR"].map((end) => `production-eu-central-1-price-watch-of-the-exchange-${end}`);
  const names = [one ?? "", other ?? ""];
  for (const name of names) await system.create(name, { throwAfterMs: 10 }, { retry: { maxAttempts: 1 } });
  await system.untilStatus(names, "Failed");
  await page.setViewportSize({ width: 400, height: HEIGHT });
  for (const address of ["/", "/observers"]) {
    await open(address);
    const looks = [];
    // Of the place it stands in, as a link that is cut there goes on unseen.
    for (const name of names)
      looks.push(await page.locator("main").getByRole("link", { name }).first().locator("..").screenshot());
    await takePicture(page, `names-at-400${address.replaceAll("/", "-")}`);
    expect(looks[0]?.equals(looks[1] ?? Buffer.of()), `${address} shows both alike`).toBe(false);
  }
});

test("on a screen of 1,280 px every column of tasks, schedules and timers is wholly there", async () => {
  await page.setViewportSize({ width: 1280, height: HEIGHT });
  for (const name of ["Tasks", "Schedules", "Timers"]) {
    await open(`/${name.toLowerCase()}`);
    const table = page.getByRole("region", { name, exact: true });
    await table.getByRole("row").nth(1).waitFor();
    expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth), name).toBe(0);
  }
});

test("the counts of observers leave no gap in their grid", async () => {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await open("/");
    const counts = page.getByRole("region", { name: "Observers by status" }).getByRole("listitem");
    await counts.first().waitFor();
    const rows = new Map<number, number>();
    for (const count of await counts.all()) {
      const { y } = await boxOf(count);
      rows.set(y, (rows.get(y) ?? 0) + 1);
    }
    expect(new Set(rows.values()).size, `${width} px: ${[...rows.values()]}`).toBe(1);
  }
});
