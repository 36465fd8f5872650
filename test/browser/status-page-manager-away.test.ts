import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, takePicture, untilLive } from "../support/browser/browser.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let manager: RunningProcess;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  manager = await system.startManager();
  await system.startService("alpha");
  await system.createMany("steady", 3);
});
afterAll(() => system?.close());

const HAS_ALL_PAGES = "performance.getEntriesByType('resource').some(({ name }) => /assets.errors-/.test(name))";

describe("while the manager is away", () => {
  test.runIf(isTurnOf(0))(
    "the page says since when it shows the past, and catches up by itself when the manager is back",
    async () => {
      const port = Number(new URL(system.url).port);
      const { page } = await openPage(browser, `${system.url}/observers`);
      await untilLive(page);
      await page.getByText("3 shown").waitFor();
      await expect.poll(() => page.evaluate(HAS_ALL_PAGES), POLL).toBe(true);
      const { page: writing } = await openPage(browser, `${system.url}/observers`);
      await writing.getByRole("button", { name: "New observer" }).click();
      const form = writing.getByRole("dialog", { name: "New observer" });
      await form.getByLabel("Name").fill("newcomer");
      await manager.kill("SIGKILL");
      await page.getByText("No connection to the manager.").waitFor();
      await page.getByText("everything below is as it was at").waitFor();
      await takePicture(page, "observers-manager-away");
      expect(await page.getByRole("row").count()).toBe(4);

      // What is not there yet cannot be read, and says so; going about the page goes on working.
      await page.getByRole("link", { name: "Errors" }).click();
      await page.getByText("The manager cannot be reached").first().waitFor();
      await takePicture(page, "errors-manager-away");
      await page.getByRole("link", { name: "Observers" }).click();
      // What cannot be done is told where it was asked for, and nothing that was written is lost.
      await form.getByRole("button", { name: "Create" }).click();
      await form.getByRole("alert").getByText("The manager cannot be reached").waitFor();
      await writing.mouse.click(5, 300); // beside it

      // As where its services begin later than the manager.
      const types = /\/api\/v1\/types/;
      await writing.route(types, async (route) => {
        const response = await route.fetch();
        const json = { ...(await response.json()), items: [], total: 0 };
        await route.fulfill({ response, json });
      });
      const askedAgain = writing.waitForResponse(types);
      manager = await system.startManager({ port });
      await untilLive(page);
      await askedAgain;
      await untilLive(writing);
      expect(await form.getByLabel("Name").inputValue()).toBe("newcomer");
      await writing.unroute(types);
      await form.getByRole("button", { name: "Create" }).click();
      await form.waitFor({ state: "detached" });
      await expect
        .poll(() => page.getByRole("row").filter({ hasText: "newcomer" }).textContent(), POLL)
        .toContain("Processing");
      await system.remove("newcomer"); // it has no file for its acts
      expect(await page.getByText("No connection to the manager.").count()).toBe(0);
      await page.getByRole("link", { name: "Errors" }).click();
      await page.getByText("No observer has failed").waitFor();
    },
  );

  test("what could not be read, while the changes come on, is read again by itself", async () => {
    const { page } = await openPage(browser, `${system.url}/observers`);
    await untilLive(page);
    await page.route(/\/api\/v1\/observers\/[^/?]+$/, (route) => route.abort(), { times: 1 });
    await page.goto(`${system.url}/observers/steady-1`);
    // It is gone when that succeeds, which may be before a second look.
    await page
      .getByRole("alert")
      .filter({ hasText: "The observer could not be read" })
      .filter({ hasText: "This page tries again by itself." })
      .waitFor();
    await page.getByRole("heading", { level: 1, name: "steady-1" }).waitFor();
  });

  test("figures that could not be read again are those of last sight, and are read at once when somebody looks again", async () => {
    const { page } = await openPage(browser, `${system.url}/`);
    await untilLive(page);
    const headline = page.getByRole("region", { name: "How it stands" }).getByRole("status");
    await headline.waitFor();
    await page.route(/\/api\/v1\/stats/, (route) => route.abort());
    await headline.filter({ hasText: /^At last sight: / }).waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await headline.filter({ hasNotText: "At last sight" }).waitFor();
  });

  test.runIf(isTurnOf(1))(
    "a page that was opened at an address of its own shows that; an unknown one is refused as before",
    async () => {
      const { page } = await openPage(browser, `${system.url}/observers?q=steady-1&sort=attempts`);
      await page.getByText("1 shown").waitFor();
      expect(await page.getByRole("searchbox", { name: "Name" }).inputValue()).toBe("steady-1");
      await page.goto(`${system.url}/observers/steady-2`);
      await page.getByRole("heading", { level: 1, name: "steady-2" }).waitFor();
      await page.getByText('"file"').waitFor();
      await page.goto(`${system.url}/services`);
      await page.getByText("1 service alive").waitFor();
      await page.goto(`${system.url}/`);
      await page.getByText("of 10 workers free").waitFor();
      expect((await page.goto(`${system.url}/elsewhere`))?.status()).toBe(404);
    },
  );

  test.runIf(isTurnOf(2))("an observer is followed on its page, too: stopped there, it is shown as deleted", async () => {
    const { page } = await openPage(browser, `${system.url}/observers/steady-0`);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await page.getByText("steady-0 is being stopped").waitFor();
    const { id } = (await system.listObservers("&q=steady-0&status=OnDeleting,Deleted"))[0] ?? { id: "" };
    await page.goto(`${system.url}/observers/${id}`);
    await page.getByText("Deleted: stopped for good").waitFor();
    await page.getByText("stopped on request").first().waitFor(); // of its run, and on its timeline
    system.isOver(id);
  });

  test.runIf(isTurnOf(2))("errors are retried one by one and by their group", async () => {
    for (const name of ["one", "two", "three"])
      await system.create(`given-up-${name}`, { throwAfterMs: 5, throwTimes: 1 }, { retry: { maxAttempts: 1 } });
    await system.untilStatus(["given-up-one", "given-up-two", "given-up-three"], "Failed");
    const { page } = await openPage(browser, `${system.url}/errors`);
    await untilLive(page);
    await page.getByRole("button", { name: "Show them" }).click();
    const message = page.getByRole("listitem").filter({ hasText: "given-up-two" });
    const retry = message.getByRole("button", { name: "Retry" });
    await retry.click();
    await page.getByText("given-up-two is being restarted").waitFor();
    const restart = page.getByRole("button", { name: "Restart the 2 that failed" });
    await restart.waitFor();
    await retry.and(page.locator(":not([aria-disabled])")).waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent"), "what has the focus").toBe("Retry");
    await restart.click();
    await page.getByText("2 observers being restarted").waitFor();
    await restart.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.tagName"), "what has the focus").not.toBe("BODY");
    await system.untilStatus(["given-up-one", "given-up-two", "given-up-three"], "Processing");
    await page.getByRole("button", { name: "Remove" }).first().click();
    await page.getByText("The message was removed").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.tagName"), POLL).not.toBe("BUTTON");
    expect(await page.evaluate("document.activeElement.tagName"), "what has the focus").toBe("LI");
    await system.check();
  });
});
