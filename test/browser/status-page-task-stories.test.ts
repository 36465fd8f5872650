import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, openPage, untilLive } from "../support/browser/browser.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { HANDLER_TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let browser: Browser;
let page: Page;
let tasks: Tasks;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem(), launchBrowser()]);
  await system.startManager();
  await system.startService("worker", { env: { OBSERVERS_DIR: HANDLER_TASKS_DIR, TASK_WORKERS: "4" } });
  tasks = new Tasks(system);
  ({ page } = await openPage(browser, `${system.url}/tasks`));
  await untilLive(page);
});
afterAll(() => system?.close());

const show = async (type: string, params: object, status: "Scheduled" | "Completed"): Promise<string> => {
  const { id } = await tasks.create({}, { type, params: { dir: tasks.dir, ...params } });
  await tasks.untilStatus(id, status);
  await page.goto(`${system.url}/tasks/${id}`);
  return id;
};

test.runIf(isTurnOf(2))("a task that was put off says why", async () => {
  await show("later", { inMs: 3_600_000, reason: "the shop is closed" }, "Scheduled");
  await page.getByText("the time until which it was put off: the shop is closed").waitFor();
  await page.getByText("Put off", { exact: true }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test.runIf(isTurnOf(2))("a task that its emergency handler completed says so", async () => {
  await show("second-way", {}, "Completed");
  await page.getByText("Completed: its emergency handler returned").waitFor();
});

test.runIf(isTurnOf(2))("a task shows what it created and what was refused, and leads there and back", async () => {
  const id = await show("parent", { children: [{}, { type: "nobody-has-it" }] }, "Completed");
  await page.getByRole("heading", { name: "What it created" }).waitFor();
  await page.getByText('nobody-has-it: refused, No living service of the pool "default"').waitFor();
  expect(await violationsOf(page)).toEqual([]);
  const [child] = (await tasks.get(id)).created ?? expect.fail("it created nothing");
  await page.locator(`a[title="${child?.id}"]`).click();
  await page.getByText("Created by").waitFor();
  await page.locator(`a[title="${id}"]`).click();
  await page.getByRole("heading", { name: "What it created" }).waitFor();
});

test.runIf(isTurnOf(2))("a task whose worker outside is dead is taken back", async () => {
  await system.call("PATCH", "/api/v1/task-types/paint", { outside: true });
  const { id } = await tasks.create({}, { type: "paint" });
  await system.call("POST", "/api/v1/tasks/take", { types: ["paint"], leaseMs: 86_400_000 });
  await page.goto(`${system.url}/tasks/${id}`);
  await page.getByRole("button", { name: "Take it back" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Take it back?" });
  await dialog.getByRole("button", { name: "Take it back" }).press("Enter");
  await page.getByText("somebody to take it: no service").waitFor();
  await page.getByRole("button", { name: "Take it back" }).waitFor({ state: "detached" });
  expect(await tasks.get(id)).toMatchObject({ status: "Ready", interruptions: 1 });
  await page.getByRole("heading", { name: "It was interrupted" }).waitFor();
  await page.getByText(/taken by \S+: somebody took it back$/).waitFor();
  expect(await violationsOf(page)).toEqual([]);
});
