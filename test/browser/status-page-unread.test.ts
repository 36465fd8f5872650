import type { CreatedFlow } from "@unacked/contracts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser, openPage, untilLive } from "../support/browser/browser.ts";
import { refusal } from "../support/browser/refusal.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem(), launchBrowser()]);
  await system.startManager();
  ({ page } = await openPage(browser, `${system.url}/`));
  await untilLive(page);
});
afterAll(() => system?.close());

/** From now on what asks for that is told that something went wrong. */
const breaks = (address: RegExp) =>
  page.route(address, (route) => route.fulfill(refusal("internal-error", "it took too long")));

test.runIf(isTurnOf(2))("a part of the page that cannot be read says so, and is there when it can", async () => {
  await breaks(/\/api\/v1\/(task-figures|task-types|task-failures)/);
  await page.goto(`${system.url}/tasks`);
  for (const what of ["How it goes", "The task types", "What failed, by cause,"])
    await page.getByRole("alert").getByText(`${what} could not be read`).waitFor();
  await page.unrouteAll();
  for (const alert of await page.getByRole("alert").all()) await alert.waitFor({ state: "detached" });
});

test.runIf(isTurnOf(2))("what became of a schedule's times is not awaited for ever where it cannot be read", async () => {
  const body = { cron: "30 7 * * *", timeZone: "Etc/UTC", task: { type: "report" } };
  const { status } = await system.call("PUT", "/api/v1/schedules/daily", body);
  expect(status).toBe(201);
  await breaks(/\/occurrences/);
  await page.goto(`${system.url}/schedules/daily`);
  await page.getByRole("alert").getByText("What became of it could not be read").waitFor();
  await page.unrouteAll();
  await page.getByText("It has not been due yet.").waitFor();
});

test.runIf(isTurnOf(2))("what is still shown, and could not be read again, is not taken for the present", async () => {
  await page.goto(`${system.url}/timers`);
  await page.getByText("There are no timers yet").waitFor();
  const banner = page.locator("[data-banner]");
  expect(await banner.count()).toBe(0);
  await breaks(/\/api\/v1\/timers/);
  await banner.getByText("Some of what is shown could not be read again.").waitFor();
  expect(await banner.textContent()).toMatch(/it took too long\..* It is as it was at /);
  await page.getByRole("link", { name: "Services" }).click(); // nothing of it is shown there
  await banner.waitFor({ state: "detached" });
});

test.runIf(isTurnOf(2))("nor are the tasks of a flow that runs", async () => {
  const flow = { tasks: [{ ref: "only", type: "report" }] };
  const { status, body } = await system.call<CreatedFlow>("POST", "/api/v1/flows", flow);
  expect(status, JSON.stringify(body)).toBe(201);
  await page.goto(`${system.url}/flows/${body.id}`);
  await page.getByRole("group", { name: "The flow as a picture" }).waitFor();
  await breaks(/\/flows\/[^/]+\/tasks/);
  const banner = page.locator("[data-banner]");
  await banner.getByText("Some of what is shown could not be read again.").waitFor();
  await page.unrouteAll();
  await banner.waitFor({ state: "detached" });
});
