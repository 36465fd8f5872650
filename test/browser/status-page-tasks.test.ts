import type { TaskTypeList } from "@unacked/contracts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sayTimes } from "../../services/status-page/src/parts/say-times.ts";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, NARROW, openPage, POLL, untilLive, WIDE } from "../support/browser/browser.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { Takers } from "../support/rest/takers.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let browser: Browser;
let page: Page;
let tasks: Tasks;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem(), launchBrowser()]);
  await system.startManager();
  await system.startService("worker", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "4" } });
  tasks = new Tasks(system);
  ({ page } = await openPage(browser, `${system.url}/tasks`));
  await untilLive(page);
});
afterAll(() => system?.close());

const row = (id: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name: short(id) }) });
const short = (id: string) => `${id.slice(0, 8)}…${id.slice(-6)}`;

const firstOf = async (status: string): Promise<string> =>
  (await tasks.list(`status=${status}`)).items[0]?.id ?? expect.fail(`no task is ${status}`);

test("without tasks the page says how to have one", async () => {
  await page.getByText("There are no tasks yet").waitFor();
  await page.getByText("unacked run TYPE key=value").waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test("tasks come, run and end while one looks, with what they said last", async () => {
  const failed = await tasks.create({ isFinal: true });
  const running = await tasks.create({ ms: 600_000 });
  const scheduled = await tasks.create({}, { startAt: new Date(Date.now() + 3_600_000).toISOString() });
  await row(running.id).getByText("Running").waitFor();
  await row(failed.id).getByText("Failed").waitFor();
  await row(failed.id).getByText("NonRetryableError: it will never do").waitFor();
  await row(scheduled.id).getByText("Scheduled").waitFor();
  await page.getByText("3 of 3").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.setViewportSize(NARROW);
  expect(await violationsOf(page)).toEqual([]);
  await page.setViewportSize(WIDE);
});

test("the list is narrowed by status, type and id, and the address keeps it", async () => {
  await page.getByLabel("Status").selectOption("Failed");
  await page.getByText("1 of 1").waitFor();
  expect(new URL(page.url()).search).toBe("?status=Failed");
  await page.reload();
  await untilLive(page);
  await page.getByText("1 of 1").waitFor();
  await page.getByLabel("Type", { exact: true }).fill("nothing");
  await page.getByText("No task matches").waitFor();
  await page.getByLabel("Type", { exact: true }).fill("");
  await page.getByLabel("Status").selectOption("");
  const id = await firstOf("Running");
  await page.getByLabel("Id begins with").fill(id);
  await page.getByText("1 of 1").waitFor();
  await row(id).waitFor();
  await page.getByLabel("Id begins with").fill("");
});

test("it is narrowed to what runs on a service, which nothing is that waits, or is over", async () => {
  const { id } = await tasks.list("status=Running").then(({ items }) => items[0] ?? expect.fail("none runs"));
  await page.goto(`${system.url}/services`);
  await page.getByRole("region", { name: "worker" }).getByRole("link", { name: "What runs on worker" }).click();
  await row(id).waitFor();
  await page.getByText("1 of 1").waitFor();
  expect(new URL(page.url()).search).toBe("?service=worker");
  const field = page.getByLabel("Runs on service");
  expect(await field.inputValue()).toBe("worker");
  await page.getByLabel("Status").selectOption("Failed");
  await page.getByText("a task is on one only while it runs").waitFor();
  await page.getByLabel("Status").selectOption("Scheduled");
  await page.getByText("what waits, or is on its way, is on none yet").waitFor();
  await page.getByLabel("Status").selectOption("");
  await row(id).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await field.fill("");
  await page.getByText("3 of 3").waitFor();
});

test("a list that is answered more slowly than it is asked for is shown all the same, and asked for once at a time", async () => {
  const list = /\/api\/v1\/tasks\?/;
  let [underWay, most] = [0, 0];
  const { page: slow } = await openPage(browser, `${system.url}/timers`);
  await slow.route(list, async (route) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // it is looked for every 2 s
    underWay -= 1;
    await route.continue();
  });
  await slow.getByRole("link", { name: "Tasks" }).click();
  await slow.getByText("3 of 3").waitFor({ timeout: 20_000 });
  expect(most).toBe(1);
  await slow.unrouteAll({ behavior: "ignoreErrors" });
  await slow.close();
});

test.runIf(isTurnOf(0))("limits of a type are changed in place, and what is wrong with them is said", async () => {
  await page.getByText("2 types").click();
  const type = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: /^slow/ }) });
  await type.getByRole("button", { name: "Change the limits of slow" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Limits of slow" });
  await dialog.getByLabel("At most at once").fill("3");
  await dialog.getByLabel("Workers kept for it").fill("4");
  await dialog.getByText("no more than may run at once").waitFor();
  await dialog.getByLabel("Workers kept for it").fill("");
  await dialog.getByLabel("Starts a second").fill("50");
  await dialog.getByLabel("Paused").check();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).press("Enter");
  await type.getByText("paused").waitFor();
  const limitsOf = async () => (await system.call<TaskTypeList>("GET", "/api/v1/task-types")).body.items;
  expect(await limitsOf()).toContainEqual(
    expect.objectContaining({ type: "slow", paused: true, maxRunning: 3, minRunning: 0, ratePerSecond: 50 }),
  );
  await page.getByText("2 types, 1 limited, 1 paused").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.setViewportSize(NARROW);
  expect(await violationsOf(page)).toEqual([]);
  await page.setViewportSize(WIDE);
  await page.getByText("2 types").click();
});

test.runIf(isTurnOf(1))("by the keyboard alone one comes to a task, and cancels it", async () => {
  const id = await firstOf("Running");
  await page.getByRole("link", { name: short(id) }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: `work ${short(id)}` }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/tasks/${id}`);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Cancel it" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Cancel it?" });
  await dialog.getByRole("button", { name: "Cancel it" }).press("Enter");
  await page.getByText("Cancelled: somebody has cancelled it, or its flow or schedule").waitFor();
  expect((await tasks.get(id)).status).toBe("Cancelled");
});

test.runIf(isTurnOf(2))("a failed task shows its error with its stack, and runs again when it is told to", async () => {
  const id = await firstOf("Failed");
  await page.goto(`${system.url}/tasks/${id}`);
  await page.getByText("NonRetryableError: it will never do").waitFor();
  await page.getByText("Stack").click();
  await page.getByRole("group", { name: "Stack" }).getByText("work.js").waitFor();
  await page.getByRole("group", { name: "Params as JSON" }).getByText('"isFinal": true').waitFor();
  const { sends } = await tasks.get(id);
  await page.getByRole("button", { name: "Run it again" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run it again" }).click();
  await expect.poll(async () => (await tasks.get(id)).sends, POLL).toBe(sends + 1);
  await page
    .getByText(sayTimes(sends + 1), { exact: true })
    .first()
    .waitFor();
});

test.runIf(isTurnOf(0))("a result is shown, and an address of no task says so", async () => {
  const { id } = await tasks.create({ answer: { deep: [1, "two"] } });
  await tasks.get(id, "20s");
  await page.goto(`${system.url}/tasks/${id}`);
  await page.getByRole("group", { name: "Result as JSON" }).getByText('"two"').waitFor();
  await page.goto(`${system.url}/tasks/00000000-0000-4000-8000-000000000000`);
  await page.getByText("There is no such task").waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test.runIf(isTurnOf(2))("a task that somebody outside has says whose it is, in the list and in its own story", async () => {
  const takers = new Takers((method, path, options) => callHttp(`${system.url}${path}`, method, options));
  await system.call("PATCH", "/api/v1/task-types/paint", { outside: true });
  const { id } = await takers.create();
  await page.goto(`${system.url}/tasks/${id}`);
  await page.getByText("somebody to take it: no service of its pool has its type").waitFor();
  await page.getByText("it is to be taken from the pool default").waitFor();
  const taken = await takers.takeOne();
  await page.getByText("taken by anonymous until").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.goto(`${system.url}/tasks?type=paint`);
  await row(id).getByText("taken by anonymous").waitFor();
  await takers.complete(taken);
  await row(id).getByText("Completed").waitFor();
});

test.runIf(isTurnOf(1))("the card of a service says which tasks it takes, and leads to them", async () => {
  await page.goto(`${system.url}/services`);
  const card = page.getByRole("region", { name: "worker" });
  await card.getByText("4 workers, apart from those of observers").waitFor();
  await card.getByRole("link", { name: "slow" }).click();
  await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe("?type=slow");
  await page.goto(`${system.url}/services`);
  await page.getByText("Table", { exact: true }).click();
  await page.getByRole("columnheader", { name: "Task workers" }).waitFor();
  await page
    .getByRole("row", { name: /^worker / })
    .getByRole("link", { name: "4 task workers: what runs on worker" })
    .waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test.runIf(isTurnOf(2))("of a list whose answer is cut, as its rows are long, the others are on the next page", async () => {
  const startAt = new Date(Date.now() + 3_600_000).toISOString();
  for (let i = 0; i < 6; i += 1) await tasks.createMany(20, { text: "x".repeat(100_000) }, { startAt, pool: "far" });
  await page.goto(`${system.url}/tasks?pool=far`);
  await page.getByText(/^8\d of 120$/).waitFor();
  expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
  await page.getByRole("button", { name: "Older ones" }).click();
  await page.getByText("120 of 120", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Newer ones" }).click();
  await page.getByText(/^8\d of 120$/).waitFor();
});
