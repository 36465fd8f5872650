import type { TaskPage } from "@unacked/contracts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violationsOf } from "../support/browser/accessibility.ts";
import { launchBrowser, NARROW, openPage, POLL, takePicture, untilLive, WIDE } from "../support/browser/browser.ts";
import { refusal } from "../support/browser/refusal.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
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

const figures = () => page.getByRole("group", { name: "How each type goes" });
const rowOf = (type: string) =>
  figures()
    .getByRole("row")
    .filter({ has: page.getByRole("rowheader", { name: type, exact: true }) });

async function isFineNarrowToo(): Promise<void> {
  expect(await violationsOf(page)).toEqual([]);
  await page.setViewportSize(NARROW);
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
  await page.setViewportSize(WIDE);
}

test("each type shows its throughput, what waits, running times and load, by the minute and by the hour", async () => {
  await tasks.createMany(30, { ms: 20 });
  await tasks.create({ isFinal: true });
  await tasks.untilAllOver();
  await rowOf("work")
    .getByRole("img", { name: /^work, the last 60 minutes: 30 done, .* 1 failed$/ })
    .waitFor();
  await isFineNarrowToo();
  await page.getByRole("radio", { name: "by minute" }).focus();
  await page.keyboard.press("ArrowRight");
  await rowOf("work")
    .getByRole("img", { name: /^work, the last 48 hours: 30 done, at most \d+ in one hour, 1 failed$/ })
    .waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByText("by minute").click();
});

test.runIf(isTurnOf(2))("where more comes than can be done the load is red, and says so in words", async () => {
  await tasks.createMany(4, { ms: 3_000 });
  await tasks.untilAllOver();
  const ids = await tasks.createMany(5_000, { ms: 3_000 });
  const load = rowOf("work").getByText("more than can be done");
  await load.waitFor();
  const red = await page.evaluate(`{
    const said = [...document.querySelectorAll("strong")].find((element) => element.textContent.includes("more than can be done"));
    const probe = document.body.appendChild(Object.assign(document.createElement("i"), { style: "color: var(--bad)" }));
    const [colour, bad] = [said, probe].map((element) => getComputedStyle(element).color);
    probe.remove();
    colour === bad;
  }`);
  expect(red).toBe(true);
  await page.getByText("default: 4 task workers, load of all types").waitFor();
  await isFineNarrowToo();
  expect(
    (await system.call<{ accepted: number }>("POST", "/api/v1/tasks/cancel", { all: true })).body.accepted,
  ).toBeGreaterThan(4_000);
  await tasks.untilAllOver();
  expect(ids).toHaveLength(5_000);
});

test.runIf(isTurnOf(0))("failures of one cause run again as a whole", async () => {
  for (const failures of [10, 11, 12]) await tasks.create({ failures });
  await tasks.untilAllOver();
  await page.getByText(/4 failed tasks, by 2 causes/).click();
  const group = page.getByRole("row").filter({ hasText: "TypeError: attempt <n> fails" });
  await group.getByRole("cell", { name: "3", exact: true }).waitFor();
  await isFineNarrowToo();
  await group.getByRole("button", { name: "Run all again" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Run 3 tasks again?" });
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Run all again" }).press("Enter");
  await page.getByText("3 tasks run again.").waitFor();
  await expect
    .poll(async () => (await tasks.list("status=Failed")).items.filter(({ sends }) => sends > 3).length, POLL)
    .toBe(3);
});

test.runIf(isTurnOf(0))(
  "one is opened, retried with other params, and done; what is wrong with them is said at the field",
  async () => {
    const row = page.getByRole("row").filter({ hasText: "NonRetryableError: it will never do" });
    await row
      .getByRole("link", { name: /^Open one that failed with/ })
      .first()
      .press("Enter");
    await page.getByText("NonRetryableError: it will never do").waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await page.getByRole("button", { name: "Run it with other params" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Run it again with other params" });
    const field = dialog.getByLabel("Params");
    expect(JSON.parse(await field.inputValue())).toMatchObject({ isFinal: true });
    await field.fill('{"isFinal": ');
    await dialog.getByRole("button", { name: "Run it again" }).click();
    await dialog.getByText("is no JSON").waitFor();
    await field.fill(JSON.stringify({ dir: tasks.dir, ms: "long", wall: 1 }));
    await dialog.getByRole("button", { name: "Run it again" }).click();
    await dialog.getByText("/ms:").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await field.fill(JSON.stringify({ dir: tasks.dir, answer: "mended" }));
    await dialog.getByRole("button", { name: "Run it again" }).press("Enter");
    await page.getByText("The task is due now, with the new params.").waitFor();
    await page.getByRole("group", { name: "Result as JSON" }).getByText('"mended"').waitFor();
    await page.getByText(/by anonymous; before:/).waitFor();
    await page.getByText('"isFinal":true').waitFor();
    await isFineNarrowToo();
    expect(await tasks.get(id)).toMatchObject({ status: "Completed", params: { answer: "mended" }, failures: 0 });
  },
);

const PUT = `
  INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, created_at, ended_at)
  SELECT gen_random_uuid(), 'archive', '{}', 'default', 0, 'Completed', now(), 0, 0, 0, 1, now() - n * interval '1 s', now()
  FROM generate_series(1, 10000) AS n`;

test.runIf(isTurnOf(1))(
  "ten thousand rows stay usable: each page of a thousand is there at once, all are seen, and none is kept",
  async () => {
    await queryRows(system.env["DATABASE_URL"] ?? "", PUT);
    await page.goto(`${system.url}/tasks?type=archive`);
    await page.getByText("100 of 10,000").waitFor();
    await page.route(/limit=300/, (route) => route.fulfill(refusal("internal-error", "it took too long")));
    await page.getByRole("button", { name: "Show more" }).press("Enter");
    await page.locator("[data-banner]").getByText("Some of what is shown could not be read again.").waitFor();
    expect(await page.getByText("100 of 10,000").count(), "what was there stays").toBe(1);
    await page.unroute(/limit=300/);
    await page.getByText("300 of 10,000").waitFor();
    for (const count of ["900", "1,000"]) {
      await page.getByRole("button", { name: "Show more" }).press("Enter");
      const top = await page.evaluate<number>("window.scrollY");
      await page.getByText(`${count} of 10,000`).waitFor();
      expect(await page.evaluate<number>("window.scrollY"), "where the reader is").toBeGreaterThanOrEqual(top);
      expect(await page.evaluate("document.activeElement.textContent")).toMatch(/^(Show more|Older ones)$/);
    }
    const list = page.getByRole("region", { name: "Tasks", exact: true });
    const seen = new Set<string>();
    const tookMs: number[] = [];
    for (let step = 0; step < 10; step += 1) {
      const ids = await list.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("title") ?? ""));
      expect(ids).toHaveLength(1_000);
      for (const id of ids) seen.add(id);
      if (step === 9) break;
      const beganMs = performance.now();
      await page.getByRole("button", { name: "Older ones" }).click();
      await list.locator(`[title="${ids[0]}"]`).waitFor({ state: "detached" });
      await list.getByRole("link").first().waitFor();
      tookMs.push(performance.now() - beganMs);
    }
    expect(seen.size).toBe(10_000);
    const scrolled = await page.evaluate<{ frames: number; worstMs: number; heapMb: number }>(`(async () => {
    const frames = [];
    let last = performance.now();
    for (let top = 0; top < document.documentElement.scrollHeight; top += 400) {
      window.scrollTo(0, top);
      await new Promise((resolve) => requestAnimationFrame(resolve));
      frames.push(performance.now() - last);
      last = performance.now();
    }
    return { frames: frames.length, worstMs: Math.max(...frames), heapMb: performance.memory.usedJSHeapSize / 1e6 };
  })()`);
    tookMs.sort((a, b) => a - b);
    console.log(
      `a page of 1,000: ${tookMs[4]?.toFixed(0)} ms, at most ${tookMs.at(-1)?.toFixed(0)} ms; ${scrolled.frames} steps of scrolling, at most ${scrolled.worstMs.toFixed(0)} ms; heap ${scrolled.heapMb.toFixed(0)} MB`,
    );
    expect(tookMs.at(-1)).toBeLessThan(40_000);
    expect(scrolled.worstMs).toBeLessThan(8_000);
    expect(scrolled.heapMb).toBeLessThan(200);
    await page.getByRole("button", { name: "Back to the newest" }).click();
    await list.locator(`[title="${[...seen][0]}"]`).waitFor();
    expect((await system.call<TaskPage>("GET", "/api/v1/tasks?type=archive")).body.total).toBe(10_000);
  },
);

test.runIf(proves("pages"))("twelve tabs look at once, and the manager answers as before", async () => {
  const context = page.context();
  const tabs = await Promise.all(
    Array.from({ length: 11 }, async () => {
      const tab = await context.newPage();
      await tab.goto(`${system.url}/tasks?type=archive`, { waitUntil: "commit" });
      return tab;
    }),
  );
  for (const tab of tabs) await tab.getByText("100 of 10,000").waitFor();
  const tookMs: number[] = [];
  for (let i = 0; i < 50; i += 1) {
    const beganMs = performance.now();
    await system.call("GET", "/api/v1/task-figures");
    tookMs.push(performance.now() - beganMs);
    await page.waitForTimeout(100);
  }
  tookMs.sort((a, b) => a - b);
  console.log(`beside twelve tabs the figures take ${tookMs[25]?.toFixed(0)} ms (p50), ${tookMs[47]?.toFixed(0)} ms (p95)`);
  expect(tookMs[25]).toBeLessThan(3_000);
  await Promise.all(tabs.map((tab) => tab.close()));
});

/** An hour of three types, one of which fails now and then. */
const HOUR = `
  INSERT INTO task_figures (span, at, type, pool, created, completed, failed, cancelled, retried, ran_ms, histogram)
  SELECT 'minute', date_trunc('minute', now()) - n * interval '1 minute', type, 'default', done, done - failed, failed, 0, failed,
         done * ms, jsonb_build_object(1 + floor(4 * log(2, ms)), done)
  FROM generate_series(0, 59) AS n, (VALUES ('mail', 90, 120), ('resize', 40, 1800), ('report', 6, 24000)) AS kinds (type, most, ms),
       LATERAL (SELECT greatest(1, round(most * (0.6 + 0.4 * sin(n / 9.0 + length(type)))))::int AS done) a,
       LATERAL (SELECT CASE WHEN type = 'resize' AND n % 11 < 2 THEN done / 5 ELSE 0 END AS failed) b
  ON CONFLICT DO NOTHING`;

test.runIf(isTurnOf(2))("an hour of three types is seen at a glance", async () => {
  await queryRows(system.env["DATABASE_URL"] ?? "", HOUR);
  await page.goto(`${system.url}/tasks`);
  await rowOf("resize")
    .getByRole("img", { name: /^resize, the last 60 minutes: .* failed$/ })
    .waitFor();
  await isFineNarrowToo();
  await takePicture(page, "task-figures-light-wide");
});
