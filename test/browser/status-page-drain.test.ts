import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, takePicture, untilLive } from "../support/browser/browser.ts";
import { ROOT, type RunningProcess } from "../support/processes/processes.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let manager: RunningProcess;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  manager = await system.startManager();
  await system.startService("alpha", { workers: 6 });
  await system.createMany("steady", 5);
  await system.startService("beta", { workers: 4 });
  ({ page } = await openPage(browser, `${system.url}/services`));
  await untilLive(page);
});
afterAll(() => system?.close());

const card = (name: string) => page.getByRole("region", { name, exact: true });
const dialogFor = (name: string) => page.getByRole("dialog", { name: `Drain ${name}?` });
const askToDrain = (name: string) => page.getByRole("button", { name: `Drain ${name}` }).click();

describe.runIf(isTurnOf(1))("a service", () => {
  test("is drained once it has been said who takes over; then all see that its process can be ended", async () => {
    await askToDrain("alpha");
    const dialog = dialogFor("alpha");
    await dialog.getByText("Its 5 observers are stopped, and run elsewhere.").waitFor();
    await dialog.getByText("have 4 free workers.").waitFor();
    await dialog.getByText("1 observer would wait until a worker is free.").waitFor();
    await takePicture(page, "services-drain");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect((await system.listServices()).map(({ draining }) => draining)).toEqual([false, false]);

    await askToDrain("alpha");
    await system.startService("gamma", { workers: 4 }); // and the open dialog knows
    await dialog.getByText("have 8 free workers.").waitFor();
    expect(await dialog.getByText("would wait").count()).toBe(0);
    await dialog.getByRole("button", { name: "Drain" }).click();
    await page.getByText("alpha is draining.").waitFor();
    await card("alpha")
      .getByText(/Drained$/)
      .waitFor();
    await card("alpha").getByText("its process can be ended").waitFor();
    await card("alpha").getByText("0 of 6 workers in use").waitFor();
    expect(await page.getByRole("button", { name: "Drain alpha" }).count()).toBe(0);
    await takePicture(page, "services-drained");

    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText(/Drained$/).waitFor();
    await page.getByText("of 8 workers free").waitFor();
    await page.getByRole("link", { name: "Services" }).click();
    const ids = (await system.listObservers()).map(({ id }) => id);
    expect((await system.observers(ids)).map(({ service }) => service?.name)).not.toContain("alpha");
  });

  test("gives the focus back when one is through with its dialog, by the keyboard alone", async () => {
    const drain = page.getByRole("button", { name: "Drain beta" });
    const isFocused = () => drain.evaluate((button) => button === button.ownerDocument.activeElement);
    for (const key of ["Escape", "Enter"]) {
      await drain.press("Enter");
      await dialogFor("beta").waitFor();
      await page.keyboard.press(key); // "Back" has the focus
      await dialogFor("beta").waitFor({ state: "detached" });
      await expect.poll(isFocused, POLL).toBe(true);
    }
  });

  test("keeps the focus where it was refused, in its dialog and outside, by the keyboard alone", async () => {
    const focused = page.locator(":focus");
    await page.route(/\/(drain|cordon)$/, (route) => route.abort(), { times: 2 });
    await page.getByRole("button", { name: "Cordon beta" }).press("Enter");
    await page.getByText("The manager cannot be reached").waitFor();
    expect(await focused.textContent()).toBe("Cordon beta");

    await page.getByRole("button", { name: "Drain beta" }).press("Enter");
    await dialogFor("beta").locator("button:focus", { hasText: "Back" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await dialogFor("beta").getByRole("alert").getByText("The manager cannot be reached").waitFor();
    expect(await focused.textContent()).toBe("Drain");
    await page.keyboard.press("Tab");
    await dialogFor("beta").locator(":focus").waitFor();
    await page.keyboard.press("Escape");
    await dialogFor("beta").waitFor({ state: "detached" });
  });

  test("whose observers no other service there could run is not drained without a word of that", async () => {
    await system.startService("delta", { workers: 4, env: { OBSERVERS_DIR: join(ROOT, compiled("admitted")) } });
    const own = { name: "lonely", type: "counter", params: { file: system.actsFile } };
    expect((await system.call("POST", "/api/v1/observers", own)).status).toBe(201);
    await system.untilStatus(["lonely"], "Processing");
    await askToDrain("delta");
    await dialogFor("delta")
      .getByText("1 observer of type counter would wait: no other service of pool default has it.")
      .waitFor();
    await dialogFor("delta").getByRole("button", { name: "Back" }).click();
    await system.remove("lonely");
  });

  test("that cannot be drained just now is refused in the dialog, with what to do; then one tries again", async () => {
    await askToDrain("gamma");
    const dialog = dialogFor("gamma");
    const port = Number(new URL(system.url).port);
    await manager.kill("SIGKILL");
    await dialog.getByRole("button", { name: "Drain" }).click();
    await dialog.getByRole("alert").getByText("The manager cannot be reached").waitFor();
    await takePicture(page, "services-drain-refused");
    manager = await system.startManager({ port });
    await untilLive(page);

    // It ends while one still thinks about it.
    await system.service("gamma").kill("SIGTERM");
    await card("gamma").waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Drain" }).click();
    await dialog.getByRole("alert").getByText("has ended").waitFor();
    await dialog.getByRole("button", { name: "Back" }).click();
    await expect.poll(() => page.getByRole("dialog").count(), POLL).toBe(0);
  });
});
