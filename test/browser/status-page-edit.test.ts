import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { change, marked, marksOf, untilAsWanted, untilItMayChange } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let page: Page;
const letGo = join(temporaryFolder("let-go"), "now");

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  await system.startManager();
  await system.startService("alpha", { env: { OBSERVERS_DIR: compiled("admitted"), STOP_TIMEOUT_MS: "120000" } });
  await untilItMayChange(system);
  await system.createMany("edited", 1, { mark: "a", stopWhenFile: letGo }, { labels: { team: "web" } });
  ({ page } = await openPage(browser, `${system.url}/observers/edited-0`));
  await untilLive(page);
}, 240_000);
afterAll(() => system?.close());

const dialog = () => page.getByRole("dialog", { name: /^Edit / });
const field = (label: string) => dialog().getByLabel(label, { exact: true });
const main = () => page.getByRole("main").textContent();

async function edit(values: Record<string, string>): Promise<void> {
  await page.getByRole("button", { name: "Edit" }).click();
  for (const [label, value] of Object.entries(values)) await field(label).fill(value);
}

const save = () => dialog().getByRole("button", { name: "Save" }).click();

describe.runIf(isTurnOf(2))("an observer that is edited on its page", () => {
  test("shows what it is in the fields of its type, and says what is wrong at its field", async () => {
    await edit({});
    await dialog().getByRole("group", { name: "Params" }).locator(":focus").waitFor();
    await expect.poll(() => field("mark").inputValue(), POLL).toBe("a");
    expect([await field("Labels").inputValue(), await field("Pool").inputValue()]).toEqual(["team=web", "default"]);
    // Of what nobody set, its default.
    expect(await violationsOf(page)).toEqual([]);
    await field("everyMs").fill("often");
    await save();
    await dialog().getByText("must be a number").waitFor();
    await field("everyMs").fill("0");
    await save();
    await expect.poll(() => dialog().textContent(), POLL).toMatch(/must be 1 or more|Too small/);
    await dialog().getByRole("button", { name: "Back" }).click();
    expect((await system.get("edited-0")).specVersion).toBe(1);
  });

  test("is stopped and starts as it is wanted; meanwhile both versions are shown", async () => {
    await edit({ mark: "b" });
    await save();
    await page.getByText("edited-0 is stopped, and starts as it is wanted now.").waitFor();
    await expect.poll(main, POLL).toContain("2; it runs version 1");
    await expect.poll(main, POLL).toContain("updating");
    expect(await violationsOf(page)).toEqual([]);
    writeFileSync(letGo, "");
    const [now] = await untilAsWanted(system, [(await system.get("edited-0")).id]);
    await expect.poll(() => marksOf(system, now?.id ?? "").at(-1), POLL).toBe("b");
    expect(now?.params).toEqual(marked(system, "b", { stopWhenFile: letGo }));
    await expect.poll(main, POLL).not.toContain("it runs version");
  });

  test("by labels alone runs on", async () => {
    await edit({ Labels: "team=shop, tier=a" });
    await save();
    await page.getByText("edited-0 was changed.").waitFor();
    expect(await system.get("edited-0")).toMatchObject({
      labels: { team: "shop", tier: "a" },
      specVersion: 3,
      observedSpecVersion: 3,
      runNumber: 2,
    });
  });

  test("and was changed by somebody else meanwhile is left alone, and that is said", async () => {
    await edit({ mark: "mine" });
    const params = marked(system, "theirs", { stopWhenFile: letGo });
    expect((await change(system, "edited-0", { params })).status).toBe(202);
    await save();
    await dialog()
      .getByText(/Somebody else has changed it meanwhile/)
      .waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await dialog().getByRole("button", { name: "Back" }).click();
    await untilAsWanted(system, [(await system.get("edited-0")).id]);
    expect((await system.get("edited-0")).params).toEqual(params);
    await system.check({ timeoutMs: 60_000 });
  });

  test("whose type takes changes is told as it runs; what it rejects is said, with why and what it runs by", async () => {
    const params = { mark: "kept", answer: "rejected" };
    const { body, status } = await system.create("choosy", params, { type: "updatable" });
    expect(status, JSON.stringify(body)).toBe(201);
    await system.untilStatus([body.id], "Processing");
    await page.goto(`${system.url}/observers/choosy`);
    await untilLive(page);
    await edit({ mark: "unwelcome" });
    await save();
    await page.getByText("choosy is told, as it runs, what is wanted now.").waitFor();
    await expect
      .poll(main, POLL)
      .toMatch(/version 2, .*: not unwelcome\. It runs version 1 until somebody changes the params/);
    expect(await violationsOf(page)).toEqual([]);
    expect(marksOf(system, body.id)).toEqual(["kept"]);
    await change(system, body.id, { params: marked(system, "welcome") });
    await expect.poll(main, POLL).not.toContain("until other params are wanted"); // its timeline keeps the rejection
    expect(await system.get(body.id)).toMatchObject({ rejectedUpdate: null, runNumber: 1 });
  });
});
