import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceView } from "@unacked/contracts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, NARROW, openPage, POLL, takePicture, untilLive } from "../support/browser/browser.ts";
import { ROOT } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;

const folder = temporaryFolder("slots-page");
for (const name of ["stamp", "poison"])
  writeFileSync(join(folder, `${name}.ts`), `export { default } from "${ROOT}/test/fixtures/poison/${name}.ts";\n`);
writeFileSync(join(folder, "feed.ts"), 'import { z } from "zod";\n\nexport default {\n  async run({ signal ) {},\n};\n');

beforeAll(async () => {
  [system, browser] = await Promise.all([
    freshSystem({ heartbeatS: 10, env: { SLOTS: "2", STUCK_MS: "1000", STOP_TIMEOUT_MS: "1500" } }),
    launchBrowser(),
  ]);
  await system.startManager();
  await system.startService("alpha", { workers: 20, env: { OBSERVERS_DIR: folder } });
  await system.createMany("steady", 4);
  ({ page } = await openPage(browser, `${system.url}/services`));
  await untilLive(page);
});
afterAll(() => system?.close());

const card = () => page.getByRole("region", { name: "alpha", exact: true });
const table = () => card().getByRole("region", { name: "Slots of alpha" });
const alpha = async (): Promise<ServiceView> => {
  const [service] = await system.listServices();
  return service ?? expect.fail("no service is listed");
};

describe.runIf(isTurnOf(1))("the slots of a service", () => {
  test("are one line, which the keyboard opens; then each is told with what it runs and takes", async () => {
    const line = card().getByText(/^3 slots, \d+ MiB, at most \d+ ms behind/);
    await line.waitFor();
    expect(await table().isVisible()).toBe(false);
    expect(await violationsOf(page)).toEqual([]);

    await card().getByRole("link", { name: "4 of 20 workers in use" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await table().waitFor({ state: "visible" });
    expect(await table().getByRole("columnheader").allTextContents()).toEqual([
      "Pid",
      "For",
      "Runs",
      "Memory",
      "Behind",
      "Up for",
    ]);
    const { slots } = await alpha();
    for (const { pid } of slots)
      await table()
        .getByRole("rowheader", { name: String(pid), exact: true })
        .waitFor();
    expect(await table().getByRole("cell", { name: "nobody yet" }).count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Tab"); // what scrolls can be reached
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Slots of alpha");
  });

  test("that end are told with why, live, and whom to look at", async () => {
    const { slots } = await alpha();
    const shared = slots.find(({ purpose }) => purpose === "shared") ?? expect.fail("no slot is shared");
    process.kill(shared.pid, "SIGKILL");
    await card()
      .getByText(`pid ${shared.pid}, SIGKILL, with ${shared.runs} observers: nobody can be named: ${shared.runs} suspects`)
      .waitFor();
    const { body } = await system.call<{ id: string }>("POST", "/api/v1/observers", {
      name: "spin",
      type: "poison",
      params: { how: "busy-loop" },
      retry: { maxAttempts: 1, delaysMs: [10], resetAfterMs: 600_000 },
    });
    await card()
      .getByRole("list", { name: "Slots of alpha that ended" })
      .getByRole("link", { name: "spin" })
      .first()
      .waitFor();
    await card()
      .getByText(/\d ended in 10 min/)
      .waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await takePicture(page, "services-slots");
    await system.remove(body.id);
  });

  test("show in the history of who was interrupted why that was", async () => {
    const { page: observer } = await openPage(browser, `${system.url}/observers/steady-0`);
    const others = ["steady-1", "steady-2", "steady-3"].map((name) => openPage(browser, `${system.url}/observers/${name}`));
    const pages = [observer, ...(await Promise.all(others)).map((one) => one.page)];
    const told = async (): Promise<number> => {
      const counts = pages.map((one) => one.getByText("interrupted, and begun again").count());
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    };
    await expect.poll(told, POLL).toBeGreaterThan(1);
    const texts = await Promise.all(pages.map((one) => one.getByRole("table").allTextContents()));
    expect(texts.flat().join("")).toContain("its slot ended (SIGKILL): nobody can be named: ");
    for (const one of pages) await one.context().close();
  });
});

test.runIf(isTurnOf(1))("a file that a service could not load is shown with the lines around the mistake", async () => {
  const files = card().getByRole("list", { name: "Files that it could not load" });
  await files.getByText(`${join(folder, "feed.ts")}:4:22`).waitFor();
  expect(await files.locator("pre").textContent()).toContain("> 4 |   async run({ signal ) {},");
  const { page: narrow } = await openPage(browser, `${system.url}/services`, { viewport: NARROW, colorScheme: "dark" });
  await narrow.getByRole("list", { name: "Files that it could not load" }).waitFor();
  await narrow.getByText(/slots, .* behind/).click();
  expect(await violationsOf(narrow)).toEqual([]);
  // Long paths and lines wrap or scroll by themselves: the page never does, sideways.
  expect(await narrow.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await takePicture(narrow, "services-slots-narrow-dark");
});
