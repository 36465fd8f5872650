import { readFileSync } from "node:fs";
import pg from "pg";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { looksFine } from "../support/browser/looks.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { untilItMayChange } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const COUNT = 10_000;
const TABS = proves("pages") ? 12 : 3;
const LONG = { ...POLL, timeout: 240_000 };

/** That one alone: locked by ORDER BY and OFFSET, those before it would be, too. */
const HOLD = `SELECT id FROM observers
  WHERE id = (SELECT id FROM observers WHERE name LIKE 'many-%' ORDER BY id OFFSET 5000 LIMIT 1) FOR UPDATE`;

const OUTCOME = /Done(\d,\d{3}) of 10,000.*Left alone(\d,\d{3})/;

/** For the step that is under way; else steps that come after it would count, too. */
const CANCEL_WAITS = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM works WHERE id = $1 FOR UPDATE%'`;

let system: System;
let browser: Browser;
let manager: RunningProcess;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser()]);
  manager = await system.startManager();
  for (const name of ["alpha", "beta"]) await system.startService(name, { workers: COUNT });
  await untilItMayChange(system);
  await system.createCrowd("many", COUNT, { everyMs: 3_600_000 });
  ({ page } = await openPage(browser, `${system.url}/observers?q=many`));
  context = page.context();
  await untilLive(page);
}, 400_000);
afterAll(() => system?.close());

const main = (of = page) => of.getByRole("main").textContent();
const button = (name: string | RegExp) => page.getByRole("button", { name });

/** Chooses all that the list shows, and then all that match, by the keyboard, and asks that of them. */
async function askOfAll(verb: string): Promise<string> {
  const grid = page.getByRole("grid", { name: "Observers" });
  await page.getByText("10,000 shown").waitFor();
  await grid.focus();
  await page.keyboard.press("Control+a");
  await page.getByText("10,000 observers chosen").waitFor();
  await button("Choose all 10,000 that match").press("Enter");
  await page.getByText("All 10,000 that match chosen").waitFor();
  await page.getByRole("button", { name: verb, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `${verb} all that match, 10,000 observers now?` });
  await dialog.getByRole("button", { name: verb }).click();
  await page.getByRole("heading", { name: `${verb} observers`, level: 1 }).waitFor();
  return page.url();
}

/** The last step has all done; the step after it finds nothing more, and ends the work. */
const isDone = (of = page) => expect.poll(() => main(of), LONG).toMatch(/StatusDone: .*Done10,000 of 10,000/);

describe.runIf(isTurnOf(2))("bulk by filter, of ten thousand", () => {
  test("is begun by the list, told by a page of its own, the same after a reload and in a second tab", async () => {
    const beganMs = performance.now();
    const address = await askOfAll("Pause");
    expect(address).toMatch(/\/work\/[0-9a-f-]{36}$/);
    await page.reload();
    await page.getByRole("heading", { name: "Pause observers", level: 1 }).waitFor();
    const second = await context.newPage();
    await second.goto(address);
    for (const one of [page, second]) await isDone(one);
    const tookMs = performance.now() - beganMs;
    await second.close();
    const told = await main();
    for (const text of ["name with many", "anonymous (admin)", "Left alone0"]) expect(told).toContain(text);
    await looksFine(page, "work");
    const id = address.split("/").at(-1) ?? "";
    const { body: work } = await system.call<{ done: number; begunAt: string; endedAt: string }>(
      "GET",
      `/api/v1/work/${id}`,
    );
    expect(work).toMatchObject({ status: "Done", total: COUNT, done: COUNT, failed: 0, leftAlone: 0 });
    const byManagerMs = Date.parse(work.endedAt) - Date.parse(work.begunAt);
    console.log(
      `${COUNT} asked to pause in ${byManagerMs} ms by the manager's clock; from choosing to its end on the page ${tookMs.toFixed(0)} ms`,
    );
    await page.getByRole("link", { name: /name with many/ }).click();
    await page.getByRole("button", { name: /^Paused 10,000$/ }).waitFor({ timeout: 240_000 });
  }, 600_000);

  test(`is done beside ${TABS} tabs, and each list is live`, async () => {
    const others: Page[] = [];
    while (others.length < TABS - 1) {
      const tab = await context.newPage();
      await tab.goto(`${system.url}/observers?q=many&sort=${others.length % 2 === 0 ? "name" : "-changed"}`);
      others.push(tab);
    }
    for (const tab of others) await untilLive(tab);
    const [cpuBefore, requestsBefore, beganMs] = [cpuMs(), await requests(), performance.now()];
    await page.goto(`${system.url}/observers?q=many`);
    await untilLive(page);
    await askOfAll("Resume");
    await isDone();
    for (const tab of others) await tab.getByRole("button", { name: /^Processing 10,000$/ }).waitFor({ timeout: 240_000 });
    const tookS = (performance.now() - beganMs) / 1_000;
    const [cpu, asked] = [cpuMs() - cpuBefore, (await requests()) - requestsBefore];
    console.log(
      `${COUNT} resumed beside ${TABS} tabs, all live: ${tookS.toFixed(1)} s; the manager used ${(cpu / 1_000).toFixed(1)} s of CPU and answered ${asked} requests (${(asked / tookS).toFixed(1)} a second)`,
    );
    for (const tab of others) await tab.close();
  }, 600_000);

  test("is cancelled by whoever looks: the step that is under way counts, and the list of works says so", async () => {
    // Somebody holds one of the last: the step that comes to it waits, and whoever cancels waits for that step.
    const client = new pg.Client({ connectionString: system.env["DATABASE_URL"] });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query("BEGIN");
    await client.query(HOLD);
    await page.goto(`${system.url}/observers?q=many`);
    await untilLive(page);
    await askOfAll("Restart");
    await expect.poll(() => main(), LONG).toMatch(/Done5,000 of 10,000/);
    expect(await main()).toMatch(/Remaining5,000, about/);
    await button("Cancel the rest").click();
    const asked = page.getByRole("dialog", { name: "Cancel the rest?" });
    let isAnswered = false;
    const answered = page.waitForResponse(/\/cancel$/).then(() => (isAnswered = true));
    await asked.getByRole("button", { name: "Cancel the rest" }).click();
    await expect.poll(async () => isAnswered || (await client.query(CANCEL_WAITS)).rowCount === 1, POLL).toBe(true);
    await client.query("COMMIT");
    await answered;
    await page.getByText(/Cancelled; \d,\d{3} observers left alone\./).waitFor();
    await expect.poll(() => main(), POLL).toMatch(OUTCOME);
    const [done, left] = (OUTCOME.exec((await main()) ?? "") ?? []).slice(1).map((part) => Number(part.replace(",", "")));
    // Where the step was given up by then, as it waited too long, it does not count; where the cancel was slow to wake, the next one was there first.
    expect(done).toBeOneOf([5_000, 5_250, 5_500]);
    expect(left).toBe(COUNT - (done ?? 0));
    await looksFine(page, "work-cancelled");
    await page.goto(`${system.url}/work`);
    for (const name of ["Pause observers", "Resume observers", "Restart observers"])
      await page.getByRole("link", { name }).waitFor();
    await looksFine(page, "works");
  }, 600_000);

  test("tells why some were refused, and names the first of them", async () => {
    const { body } = await system.call<{ id: string }>("POST", "/api/v1/work", { act: "resume", filter: { q: "many-1" } });
    await page.goto(`${system.url}/work/${body.id}`);
    const reasons = page.getByRole("region", { name: "Reasons" });
    await reasons.getByText("…").waitFor();
    expect(await reasons.getByRole("link").count()).toBe(5);
    await looksFine(page, "work-refused");
  });
});

/** Of the manager's process, in user and kernel. */
function cpuMs(): number {
  const [, rest = ""] = readFileSync(`/proc/${manager.pid}/stat`, "utf8").split(") ");
  const fields = rest.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const requests = async (): Promise<number> =>
  (await scrape(system.url)).value("unacked_manager_http_request_duration_seconds_count") ?? 0;
