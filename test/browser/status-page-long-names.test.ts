import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { inTurn } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** In px: a phone, a wide screen at 200 %, a wide screen. */
const WIDTHS = [360, 680, 1_360];
/** As long as is legal, and nowhere to break. */
const NAME = "n".repeat(128);
const TYPE = "t".repeat(64);

let system: System;
let browser: Browser;
let page: Page;
let addresses: Record<"observer" | "task" | "flow" | "schedule" | "services", string>;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem(), launchBrowser()]);
  await system.startManager();
  await system.startService("s".repeat(128), { env: { OBSERVERS_DIR: "test/fixtures/long-texts", TASK_WORKERS: "2" } });
  const observer = await made("POST", "observers", { name: NAME, type: "long-error", retry: { maxAttempts: 1 } });
  const task = await made("POST", "tasks", { type: TYPE, params: { word: "p".repeat(2_000) } });
  const flow = await made("POST", "flows", { name: NAME, tasks: [{ ref: "r".repeat(64), type: TYPE }] });
  await made("PUT", `schedules/${NAME}`, { cron: "0 0 1 1 *", description: "d".repeat(200), task: { type: TYPE } });
  await system.untilStatus([NAME], "Failed");
  addresses = {
    observer: `/observers/${observer.id}`,
    task: `/tasks/${task.id}`,
    flow: `/flows/${flow.id}`,
    schedule: `/schedules/${NAME}`,
    services: "/services",
  };
  ({ page } = await openPage(browser, system.url));
});
afterAll(() => system?.close());

async function made(method: string, path: string, body: object): Promise<{ id: string }> {
  const answer = await system.call<{ id: string }>(method, `/api/v1/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

test.each(inTurn(["observer", "task", "flow", "schedule", "services"] as const))(
  "the page of the longest names does not scroll sideways, and all of it is reached by the keyboard: %s",
  async (what) => {
    await page.goto(`${system.url}${addresses[what]}`);
    await untilLive(page);
    await page.locator("main :is(dl, [role=group])").first().waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await expect
        .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"), POLL)
        .toBeLessThanOrEqual(0);
      expect(await violationsOf(page), `${what} at ${width} px`).toEqual([]);
    }
  },
);
