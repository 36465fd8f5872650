import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, NARROW, openPage, POLL, takePicture } from "../support/browser/browser.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { openApi } from "../support/rest/rest-contract.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { putObserver } from "../support/servers/books.ts";

const { books, manager } = useHttpManager();
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});

const CALLS = Object.values(openApi().paths).flatMap((methods) => Object.keys(methods)).length;

/** The line of one call, which opens it. */
const lineOf = (page: Page, operationId: string) => page.locator(`[id$="-${operationId}"] .opblock-summary-control`);

describe.each(inTurn(["light", "dark"] as const))("the API's documentation in %s", (colorScheme) => {
  test("has every call with its examples, breaks no Content-Security-Policy, and asks no other host", async () => {
    const { page, problems, foreign } = await openPage(browser, `${manager.url}/api/docs`, { colorScheme });
    await page.getByRole("heading", { name: "Problems" }).waitFor();
    await expect.poll(() => page.locator(".opblock").count(), POLL).toBe(CALLS);
    await page.getByText("Every code, and what to do").click();
    await page.getByText("There is nothing left to do.").waitFor();
    await page.getByText("Every code, and what to do").click();
    await takePicture(page, `api-docs-${colorScheme}-wide`);
    await lineOf(page, "createObserver").click();
    await page.getByText("shop-front").first().waitFor();
    await page.locator('[id$="-createObserver"]').getByText("name-taken").first().waitFor();
    await lineOf(page, "createObserver").scrollIntoViewIfNeeded();
    await takePicture(page, `api-docs-call-${colorScheme}-wide`);
    await page.setViewportSize(NARROW);
    await takePicture(page, `api-docs-call-${colorScheme}-narrow`);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      colorScheme === "dark" ? "rgb(18, 22, 20)" : "rgb(251, 250, 247)",
    );
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
  });
});

test.runIf(isTurnOf(2))("a call can be tried out in the page", async () => {
  await putObserver(books.dataSource, { name: "seen-in-the-docs" });
  const { page, problems } = await openPage(browser, `${manager.url}/api/docs`);
  await lineOf(page, "listObservers").click();
  await page.getByRole("button", { name: "Try it out" }).click();
  await page.getByRole("button", { name: "Execute" }).click();
  await page.getByText("seen-in-the-docs").waitFor();
  expect(problems).toEqual([]);
});
