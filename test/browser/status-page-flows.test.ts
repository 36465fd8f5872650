import type { CreatedFlow, FlowTask } from "@unacked/contracts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { looksFine } from "../support/browser/looks.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let browser: Browser;
let page: Page;
let tasks: Tasks;
/** A flow of five, of which `parse-b` fails for good, and one that never ends. */
let flows: { failed: string; running: string };

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem(), launchBrowser()]);
  await system.startManager();
  await system.startService("worker", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "8" } });
  tasks = new Tasks(system);
  ({ page } = await openPage(browser, `${system.url}/flows`));
  await untilLive(page);
});
afterAll(() => system?.close());

type Step = Pick<FlowTask, "ref"> & Partial<FlowTask>;
const step = (ref: string, after: string[], params: object = {}): Step => ({
  ref: ref as FlowTask["ref"],
  after: after as FlowTask["after"],
  params: { dir: tasks.dir, ...params },
});

async function create(name: string, steps: Step[]): Promise<string> {
  const body = { name, tasks: steps.map((one) => ({ type: "work", maxOutputBytes: 1_000, ...one })) };
  const { status, body: flow } = await system.call<CreatedFlow>("POST", "/api/v1/flows", body);
  expect(status, JSON.stringify(flow)).toBe(201);
  return flow.id;
}

const picture = () => page.getByRole("group", { name: "The flow as a picture" });
const open = async (address: string) => {
  await page.goto(`${system.url}${address}`);
  await untilLive(page);
};

test("without flows the page says how to have one", async () => {
  await page.getByText("There are no flows yet").waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test("flows come and end while one looks, with how far they are and why they failed", async () => {
  const failed = await create("import", [
    step("fetch", []),
    step("parse-a", ["fetch"]),
    step("parse-b", ["fetch"], { isFinal: true }),
    step("parse-c", ["fetch"]),
    step("store", ["parse-a", "parse-b", "parse-c"]),
  ]);
  const running = await create("nightly", [
    step("first", []),
    step("endless", ["first"], { ms: 300_000 }),
    step("last", ["endless"]),
  ]);
  flows = { failed, running };
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await row("import").getByRole("cell", { name: "Failed", exact: true }).waitFor();
  await row("import").getByRole("cell", { name: "parse-b failed", exact: true }).waitFor();
  await row("import").getByRole("cell", { name: "3 of 5 done, 1 failed, 1 cancelled" }).waitFor();
  await row("nightly").getByRole("cell", { name: "Running", exact: true }).waitFor();
  await row("nightly").getByRole("cell", { name: "1 of 3 done" }).waitFor();
  await looksFine(page, "flows");
  await page.getByLabel("Status").selectOption("Failed");
  await page.getByText("1 of 1").waitFor();
  expect(new URL(page.url()).search).toBe("?status=Failed");
});

test("a name is typed key by key, with the space in it", async () => {
  await create("nightly import", [step("only", [])]);
  await open("/flows");
  await page.getByLabel("Name").pressSequentially("nightly import");
  await page.getByText("1 of 1", { exact: true }).waitFor();
  await page.getByRole("link", { name: "nightly import" }).waitFor();
});

test("its picture shows each state, and leads to the task by the keyboard", async () => {
  await open(`/flows/${flows.failed}`);
  await picture().getByRole("link", { name: "parse-b, work: Failed" }).waitFor();
  await picture().getByRole("link", { name: "store, work: Cancelled" }).waitFor();
  await picture().getByRole("link", { name: "fetch, work: Completed" }).waitFor();
  await looksFine(page, "flow");
  await picture().getByRole("link", { name: "parse-b, work: Failed" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("NonRetryableError: it will never do").first().waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.id"), POLL).toBe("main"); // the link is gone with its page
});

test("a task that its flow has cancelled says why, and leads back to its flow", async () => {
  await open(`/flows/${flows.failed}`);
  await picture().getByRole("link", { name: "store, work: Cancelled" }).click();
  await page.getByText("Cancelled: its flow has cancelled it: parse-b failed").waitFor();
  await page.getByRole("definition").filter({ hasText: "store of" }).getByRole("link").click();
  await picture().getByRole("link", { name: "store, work: Cancelled" }).waitFor();
});

test("tasks of a flow that is over, which could not be read, are read again", async () => {
  const { page: other } = await openPage(browser, `${system.url}/flows`);
  const list = /\/api\/v1\/flows\/[^/]+\/tasks/;
  await other.route(list, (route) => route.abort());
  await other.goto(`${system.url}/flows/${flows.failed}`);
  await other.getByText("Its tasks could not be read").waitFor();
  await other.unroute(list);
  await other.getByRole("group", { name: "The flow as a picture" }).waitFor();
  await other.close();
});

test("it runs again from a stage, with the results of those before", async () => {
  await open(`/flows/${flows.failed}`);
  await page.getByRole("button", { name: "Run again from here: parse-b" }).click();
  await page.getByRole("dialog").getByText("“parse-b” and all that comes after it run again").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Run it again" }).click();
  await page.getByText("number 2: it was run again").waitFor();
  await picture().getByRole("link", { name: "parse-b, work: Failed" }).waitFor();
  await picture().getByRole("link", { name: "parse-a, work: Completed" }).waitFor();
});

test("it is cancelled whole", async () => {
  await open(`/flows/${flows.running}`);
  await picture().getByRole("link", { name: "endless, work: Running" }).waitFor();
  const narrowedTo = page.getByLabel("Status");
  await narrowedTo.selectOption("Running");
  await page.getByRole("rowheader", { name: "endless" }).waitFor();
  await page.getByRole("button", { name: "Cancel it whole" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel it whole" }).click();
  await picture().getByRole("link", { name: "endless, work: Cancelled" }).waitFor();
  await picture().getByRole("link", { name: "last, work: Cancelled" }).waitFor();
  await page.getByText("Cancelled: somebody has cancelled it whole").waitFor();
  // No task has it any more, and the empty table is still said to be of it.
  await expect.poll(() => page.getByRole("rowheader").count(), POLL).toBe(0);
  expect(await narrowedTo.inputValue()).toBe("Running");
});

test.runIf(isTurnOf(1))(
  "of a thousand tasks those of one type and stage are drawn as one, and the table can be narrowed",
  async () => {
    const middle = Array.from({ length: 1_000 }, (_, i) => step(`part-${i}`, ["begin"], { isFinal: i === 7 }));
    const id = await create("large", [
      step("begin", []),
      ...middle.map((one) => ({ ...one, maxOutputBytes: 1_000, onFailure: "continue" as const })),
      step(
        "end",
        middle.map(({ ref }) => ref),
      ),
    ]);
    await open(`/flows/${id}`);
    await page.getByText("1,002 tasks: those of one type that come as late are drawn as one").waitFor();
    await picture().getByText("work × 1000", { exact: true }).waitFor();
    await picture().getByText("1000 of 1000 over", { exact: true }).waitFor();
    await picture().getByRole("link", { name: "end, work: Completed" }).waitFor();
    await looksFine(page, "flow-large");
    const more = page.getByRole("button", { name: "Show more of 1,002" });
    await more.focus();
    for (const rows of [300, 900, 1_002]) {
      await page.keyboard.press("Enter");
      await expect.poll(() => page.getByRole("rowheader").count(), POLL).toBe(rows);
    }
    expect(await more.evaluate((one) => one === one.ownerDocument.activeElement), "it keeps the focus").toBe(true);
    await page.getByLabel("Status").selectOption("Failed");
    await page.getByRole("rowheader", { name: "part-7" }).waitFor();
    expect(await page.getByRole("rowheader").count()).toBe(1);
  },
);
