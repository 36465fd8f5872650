import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, NARROW, openPage, POLL, takePicture, untilLive, WIDE } from "../support/browser/browser.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let manager: RunningProcess;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  manager = await system.startManager();
  await Promise.all([system.startService("alpha"), system.startService("beta")]);
});
afterAll(() => system?.close());

const logOf = (page: Page): Locator => page.getByRole("log", { name: "Log" });
const linesOf = (page: Page): Promise<string[]> => logOf(page).getByRole("listitem").allTextContents();

/**
 * The numbers of what the stamping observer said, in the order shown, of the run that speaks now; where its service could not
 * keep all until it was asked again (some 25 s), of what follows.
 */
async function timesOf(page: Page): Promise<number[]> {
  const lines = await linesOf(page);
  const last = lines.slice(lines.findLastIndex((line) => /^From here on|not kept any more$/.test(line)) + 1);
  return last.flatMap((line) => /"times":(\d+)/.exec(line)?.[1] ?? []).map(Number);
}

/** Each number once and in order, the last at least `least`. */
async function untilSaid(page: Page, least: number): Promise<void> {
  await expect.poll(async () => (await timesOf(page)).at(-1) ?? 0, POLL).toBeGreaterThanOrEqual(least);
  const times = await timesOf(page);
  expect(times).toEqual(times.map((_, index) => (times[0] ?? 0) + index));
}

const lastOf = async (page: Page): Promise<number> => (await timesOf(page)).at(-1) ?? 0;
const pxFromEnd = (page: Page): Promise<number> =>
  logOf(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);

describe("what an observer says", () => {
  test.runIf(isTurnOf(0))(
    "comes as it says it, holds still when it is paused, and follows it over a kill -9 and a manager's death",
    async () => {
      await system.createMany("talker", 1, { sayEveryMs: 250, everyMs: 250 });
      const { page } = await openPage(browser, `${system.url}/observers/talker-0`, { timezoneId: "Asia/Kolkata" });
      const section = page.getByRole("region", { name: "Log" });
      const first = (await system.get("talker-0")).service?.name ?? "";
      await section.getByText(`Live from ${first}`).waitFor();
      await untilSaid(page, 30);
      expect((await linesOf(page))[0]).toMatch(/^\d.*infosaid \{"times":\d+\}$/);
      const time = logOf(page).locator("time").first();
      expect(await time.getAttribute("title")).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$/);
      await page.getByRole("region", { name: "Emitted last" }).getByText('"times":').first().waitFor();
      expect(await page.getByRole("region", { name: "Emitted last" }).getByRole("listitem").count()).toBe(5);

      // Its end stays in sight; a reader who is further up is left there.
      expect(await pxFromEnd(page)).toBeLessThan(30);
      await logOf(page).evaluate((box) => void (box.scrollTop = 0));
      await untilSaid(page, (await lastOf(page)) + 15);
      expect(await logOf(page).evaluate((box) => box.scrollTop)).toBe(0);
      await section.getByRole("button", { name: "To the end" }).click();
      await untilSaid(page, (await lastOf(page)) + 15);
      expect(await pxFromEnd(page)).toBeLessThan(30);

      await page.setViewportSize(NARROW);
      await untilSaid(page, (await lastOf(page)) + 5);
      expect(await pxFromEnd(page)).toBeLessThan(30);
      await page.setViewportSize(WIDE);

      await section.getByRole("button", { name: "Pause" }).click();
      await section.getByText("Paused").waitFor();
      const held = await linesOf(page);
      await section.getByRole("button", { name: /^Follow: [1-9]\d+ new$/ }).waitFor();
      expect(await linesOf(page)).toEqual(held);
      await section.getByRole("button", { name: /^Follow/ }).click();
      await untilSaid(page, (await lastOf(page)) + 5);

      await system.service(first).kill("SIGKILL");
      const second = first === "alpha" ? "beta" : "alpha";
      await logOf(page).getByText(`From here on its next run, on ${second}`).waitFor();
      await section.getByText(`Live from ${second}`).waitFor();
      await untilSaid(page, 20);
      expect((await timesOf(page))[0]).toBe(1);
      await logOf(page).getByText("From here on").scrollIntoViewIfNeeded();
      await takePicture(page, "observer-log-moved");

      const port = Number(new URL(system.url).port);
      await manager.kill("SIGKILL");
      await section.getByText("No connection to the manager").waitFor();
      const before = await lastOf(page);
      await takePicture(page, "observer-log-manager-away");
      manager = await system.startManager({ port });
      await section.getByText(`Live from ${second}`).waitFor();
      // The stream goes on where it was: nothing twice, and nothing left out but what its service keeps no more.
      await untilSaid(page, before + 10);

      await system.remove("talker-0");
      await section.getByText("Deleted: nothing more comes").waitFor();
      await system.startService(first);
    },
    240_000,
  );

  test.runIf(isTurnOf(1))("is shown of one that failed, and what it says when it is restarted there", async () => {
    await system.create("fails", { throwAfterMs: 50, throwTimes: 1, sayEveryMs: 60_000 }, { retry: { maxAttempts: 1 } });
    await system.untilStatus(["fails"], "Failed");
    const { page } = await openPage(browser, `${system.url}/observers/fails`);
    const section = page.getByRole("region", { name: "Log" });
    await section.getByText("Failed: nothing more comes").waitFor();
    expect(await linesOf(page)).toEqual([expect.stringContaining("said"), expect.stringMatching(/error.*at .*stamp/)]);
    await page.getByRole("button", { name: "Restart" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
    await logOf(page).getByText("From here on its next run").waitFor(); // which may fail again, on another service
    await expect.poll(async () => (await linesOf(page)).length, POLL).toBeGreaterThanOrEqual(4);
  });

  test.runIf(isTurnOf(2))("that nobody has run yet is said to come, and then comes", async () => {
    const { body } = await system.create("patient", { sayEveryMs: 100 }, { pool: "later", whenFull: "queue" });
    const { page } = await openPage(browser, `${system.url}/observers/${body.id}`);
    await untilLive(page);
    await logOf(page).getByText("It has not run yet").waitFor();
    await page.getByText("No values yet").waitFor();
    await takePicture(page, "observer-log-not-yet");
    await system.startService("gamma", { env: { POOL: "later" } });
    await untilSaid(page, 5);
    await page.getByRole("region", { name: "Log" }).getByText("Live from gamma").waitFor();
    await system.check();
  });
});
