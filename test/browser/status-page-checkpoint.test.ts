import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { looksFine } from "../support/browser/looks.ts";
import { eventually } from "../support/eventually.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem(), launchBrowser()]);
  await system.startManager();
  await system.startService("alpha", { env: { OBSERVERS_DIR: compiled("admitted") } });
  // A manager believes that all know admission once it has watched them for some seconds.
  await eventually(
    async () => expect((await system.create("saves", { everyMs: 600_000 }, { type: "counter" })).status).toBe(201),
    { timeoutMs: 40_000, what: "that a type with a checkpoint is taken" },
  );
  await system.untilStatus(["saves"], "Processing");
  const saved = async () => (await system.call<{ number: number }>("GET", "/api/v1/observers/saves/checkpoint")).body.number;
  await eventually(async () => expect(await saved()).toBe(1));
  ({ page } = await openPage(browser, `${system.url}/observers/saves`));
  await untilLive(page);
}, 240_000);
afterAll(() => system?.close());

const region = () => page.getByRole("region", { name: "Checkpoint" });
const confirm = async (title: string, verb: string) =>
  page.getByRole("dialog", { name: title }).getByRole("button", { name: verb }).click();

describe.runIf(isTurnOf(1))("a checkpoint on the page", () => {
  test("is shown, and can be reset once no run would save over it", async () => {
    await expect.poll(() => region().textContent(), POLL).toContain('"n": 1');
    expect(await region().textContent()).toContain("To edit or reset it, pause the observer.");
    expect(await region().getByRole("button").count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Pause" }).first().click();
    await confirm("Pause saves?", "Pause");
    await region().getByRole("button", { name: "Edit checkpoint" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the checkpoint of saves" });
    const field = dialog.getByLabel("Checkpoint");
    const saved = JSON.parse(await field.inputValue()) as { n: number };
    expect(saved.n).toBe(1);
    await field.fill("{ n");
    await dialog.getByRole("button", { name: "Set it" }).click();
    await dialog.getByText(/is not JSON/).waitFor();
    await field.fill(JSON.stringify({ ...saved, n: "many" }));
    await dialog.getByRole("button", { name: "Set it" }).click();
    await dialog
      .getByText(/\/n: |number/)
      .first()
      .waitFor();
    await looksFine(page, "checkpoint-edit");
    await field.fill(JSON.stringify({ ...saved, n: 41 }));
    await system.call("PUT", "/api/v1/observers/saves/checkpoint", { value: { ...saved, n: 7 } });
    await dialog.getByRole("button", { name: "Set it" }).click();
    await dialog.getByText(/It is number \d+ now/).waitFor();
    await dialog.getByRole("button", { name: "Back" }).click();
    await expect.poll(() => region().textContent(), POLL).toContain('"n": 7');
    await region().getByRole("button", { name: "Edit checkpoint" }).click();
    await field.fill(JSON.stringify({ ...saved, n: 41 }));
    await dialog.getByRole("button", { name: "Set it" }).click();
    await page.getByText("The checkpoint of saves was set.").waitFor();
    await expect.poll(() => region().textContent(), POLL).toContain('"n": 41');
    await region().getByRole("button", { name: "Reset checkpoint" }).click();
    await confirm("Reset the checkpoint of saves?", "Reset");
    await page.getByText("The checkpoint of saves was reset.").waitFor();
    await expect.poll(() => region().textContent(), POLL).toContain("none: the next run starts without one");
    expect((await system.call<{ value: unknown }>("GET", "/api/v1/observers/saves/checkpoint")).body.value).toBe(null);
    expect(await violationsOf(page)).toEqual([]);
  });
});
