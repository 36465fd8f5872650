import { PROBLEMS } from "@unacked/contracts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TcpProxy, tcpProxy } from "../support/broker/tcp-proxy.ts";
import { launchBrowser, openPage, POLL, takePicture, untilLive } from "../support/browser/browser.ts";
import { refusal } from "../support/browser/refusal.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, freshVhost } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let wire: TcpProxy;

beforeAll(async () => {
  const [{ amqpUrl, management }, { databaseUrl }] = await Promise.all([freshVhost(), freshDatabase()]);
  wire = await tcpProxy(databaseUrl);
  system = new System({ amqpUrl, management, databaseUrl: wire.through(databaseUrl) });
  browser = await launchBrowser();
  await system.startManager();
});
afterAll(() => system?.close());

const CANNOT = "The manager answers, but cannot use its database.";

test.runIf(isTurnOf(1))(
  "while the database is away the page says that it is that, and not the manager; and goes on by itself",
  async () => {
    const { page } = await openPage(browser, `${system.url}/timers`);
    await untilLive(page);
    await page.getByText("There are no timers yet").waitFor();
    await wire.refuse();
    wire.reset();
    const banner = page.locator("[data-banner]");
    await banner.getByText(CANNOT).waitFor();
    expect(await banner.textContent()).toContain(PROBLEMS["database-unavailable"].title);
    expect(await banner.textContent()).toContain("This page tries again by itself.");
    await page.getByRole("link", { name: "Schedules" }).click();
    await page.getByText(/Try again in \d+ s\./).waitFor();
    await takePicture(page, "schedules-database-away");
    expect(await page.getByText("No connection to the manager.").count()).toBe(0);
    await wire.heal();
    await page.getByText("There are no schedules yet").waitFor();
    await banner.waitFor({ state: "detached" });
  },
);

test.runIf(isTurnOf(1))(
  "where the stream is broken, too, it is told what the manager says, and not that it cannot be reached",
  async () => {
    const { page } = await openPage(browser, "about:blank");
    await page.addInitScript("delete window.SharedWorker"); // whose requests nobody here could break
    const detail = "PostgreSQL answers, but somebody holds a lock";
    await page.route("**/api/v1/stats", (route) => route.fulfill(refusal("database-unavailable", detail, 2)));
    await page.route("**/api/v1/events", (route) => route.abort());
    await page.goto(`${system.url}/services`);
    const banner = page.locator("[data-banner]");
    await banner.getByText("Nothing could be read since").waitFor();
    await banner.getByText(CANNOT).waitFor();
    await banner.getByText(`${PROBLEMS["database-unavailable"].title}: ${detail}.`).waitFor();
    expect(await page.getByText("No connection to the manager.").count()).toBe(0);
    await page.unrouteAll();
    await banner.waitFor({ state: "detached" });
  },
);

test.runIf(isTurnOf(1))("before anything was read no filter says that there are none", async () => {
  const { page } = await openPage(browser, "about:blank");
  let letPass = (): void => undefined;
  const mayPass = new Promise<void>((resolve) => {
    letPass = resolve;
  });
  await page.route(/\/api\/v1\/(stats|observer)/, (route) => mayPass.then(() => route.continue()));
  await page.goto(`${system.url}/observers`);
  const chip = page.getByRole("button", { name: /^Processing/ });
  await chip.waitFor();
  expect(await chip.textContent()).toBe("Processing ");
  letPass();
  await expect.poll(() => chip.textContent(), POLL).toBe("Processing 0");
});
