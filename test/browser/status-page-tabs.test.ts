import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, openPage, POLL, untilLive } from "../support/browser/browser.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
let browser: Browser;
let manager: RunningProcess;

beforeAll(async () => {
  [system, browser] = await Promise.all([freshSystem({ heartbeatS: 10 }), launchBrowser({ keepsLeftPages: true })]);
  manager = await system.startManager();
  await system.startService("alpha", { workers: 30 });
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await untilStreams(0);
});
afterAll(() => system?.close());

/** By what the manager itself counts. */
const streams = async (): Promise<number | undefined> => (await scrape(system.url)).value("unacked_manager_event_streams");
const untilStreams = (count: number, timeoutMs = POLL.timeout): Promise<void> =>
  expect.poll(streams, { ...POLL, timeout: timeoutMs }).toBe(count);

async function openTabs(context: BrowserContext, paths: readonly string[]): Promise<Page[]> {
  const pages: Page[] = [];
  for (const path of paths) {
    const page = await context.newPage();
    pages.push(page);
    await page.goto(`${system.url}${path}`, { waitUntil: "commit" });
  }
  return pages;
}

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });
const lastSaid = async (page: Page): Promise<number> => {
  const lines = await page.getByRole("log", { name: "Log" }).getByRole("listitem").allTextContents();
  return Number(/"times":(\d+)/.exec(lines.at(-1) ?? "")?.[1] ?? 0);
};
const untilSaidMore = async (page: Page): Promise<void> => {
  const before = await lastSaid(page);
  await expect.poll(() => lastSaid(page), POLL).toBeGreaterThan(before + 2);
};

/** A driven browser calls each of its tabs visible: what a tab would be told, is told here. */
const setHidden = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`{
    for (const [name, value] of [["hidden", ${isHidden}], ["visibilityState", "${isHidden ? "hidden" : "visible"}"]])
      Object.defineProperty(document, name, { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }`);

/** Chromium keeps no page that takes longer than 3 s to stand still, as it may on a machine that does much else. */
async function untilKept(page: Page, leaveAndComeBack: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await page.evaluate("window.isTheSame = true");
    await leaveAndComeBack();
    if ((await page.evaluate("window.isTheSame")) === true) return;
    expect(tries, "as often the page was left, and not kept").toBeLessThan(5);
  }
}

describe("many tabs of one browser", () => {
  test.runIf(isTurnOf(2))(
    "twelve, five of them with a log, are all live by one stream, and stay so when one goes away and comes back",
    async () => {
      await system.createMany("talker", 5, { sayEveryMs: 250, everyMs: 1_000 });
      const { page: first } = await openPage(browser, `${system.url}/observers`);
      const others = await openTabs(first.context(), [
        "/observers",
        "/observers?sort=attempts",
        "/",
        "/services",
        "/errors",
        "/observers?q=newcomer",
        ...[0, 1, 2, 3, 4].map((index) => `/observers/talker-${index}`),
      ]);
      const tabs = [first, ...others];
      for (const tab of tabs) await untilLive(tab);
      await untilStreams(1);

      await system.create("newcomer", {});
      const lists = tabs.filter((tab) => new URL(tab.url()).pathname === "/observers");
      expect(lists).toHaveLength(4);
      for (const list of lists) await expect.poll(() => row(list, "newcomer").textContent(), POLL).toContain("Processing");
      for (const tab of others.slice(-5)) await untilSaidMore(tab);

      // Left by an address of another document, and come back to: Chromium kept the page meanwhile.
      const latecomers: string[] = [];
      await untilKept(first, async () => {
        const latecomer = `latecomer-${latecomers.length}`;
        latecomers.push(latecomer);
        await first.goto(`${system.url}/api/docs`, { waitUntil: "commit" });
        await system.create(latecomer, {});
        await first.evaluate("history.back()");
        await row(first, latecomer).waitFor();
        await untilLive(first);
      });
      const talker = others.at(-1) as Page;
      await talker.goto(`${system.url}/api/docs`, { waitUntil: "commit" });
      await talker.evaluate("history.back()");
      await talker.getByRole("log", { name: "Log" }).waitFor();
      await untilLive(talker);
      await untilSaidMore(talker);
      await untilStreams(1);

      for (const name of ["newcomer", ...latecomers]) await system.remove(name);
    },
    240_000,
  );

  test.runIf(isTurnOf(0))(
    "hold no stream when nobody has looked for a minute, and show all that was missed when somebody does",
    async () => {
      const { page: first } = await openPage(browser, `${system.url}/observers`);
      const [second] = (await openTabs(first.context(), ["/observers"])) as [Page];
      for (const tab of [first, second]) await untilLive(tab);
      await setHidden(first, true);
      await untilStreams(1);
      await setHidden(second, true);
      await untilStreams(0, 80_000);
      await system.create("unseen", {});

      await setHidden(second, false);
      await untilLive(second);
      await expect.poll(() => row(second, "unseen").textContent(), POLL).toContain("Processing");
      await system.remove("unseen");
      await expect.poll(() => row(second, "unseen").count(), POLL).toBe(0);
      await untilStreams(1);
      await system.create("unseen-too", {});
      await setHidden(first, false);
      await expect.poll(() => row(first, "unseen-too").textContent(), POLL).toContain("Processing");
      expect(await row(first, "unseen").count()).toBe(1);
      await untilStreams(1);
      await system.remove("unseen-too");
    },
    240_000,
  );

  test.runIf(isTurnOf(0))(
    "ask for nothing again and again while nobody can see them",
    async () => {
      await system.startService("beta", { workers: 1 });
      const { page: first } = await openPage(browser, `${system.url}/errors`);
      const tabs = [first, ...(await openTabs(first.context(), ["/services", "/errors", "/services"]))];
      const asked = tabs.map(() => 0);
      for (const [place, tab] of tabs.entries()) {
        const isErrors = new URL(tab.url()).pathname === "/errors";
        const what = isErrors ? "/errors/groups" : "/balance";
        await (isErrors ? tab.getByText("None was put aside") : tab.getByText("Balance of pool default")).waitFor();
        tab.on("request", (request) => {
          if (request.url().includes(what)) asked[place] = (asked[place] ?? 0) + 1;
        });
      }
      for (const tab of tabs.slice(0, 2)) await setHidden(tab, true);
      asked.fill(0);
      await expect.poll(() => Math.min(...asked.slice(2)), POLL).toBeGreaterThan(1);
      expect(asked.slice(0, 2)).toEqual([0, 0]);
    },
    240_000,
  );

  test.each(
    inTurn([
      ["has no SharedWorker", "delete window.SharedWorker"],
      ["does not allow one", "window.SharedWorker = class { constructor() { throw new Error('not here') } }"],
      [
        "has one that never answers",
        "window.SharedWorker = class extends EventTarget { port = new MessageChannel().port1 }",
      ],
    ]),
  )(
    "in a browser that %s each have a stream of their own",
    async (_, script) => {
      const { page } = await openPage(browser, "about:blank");
      await page.context().addInitScript(script);
      const [first, second] = (await openTabs(page.context(), ["/observers", "/observers"])) as [Page, Page];
      await untilStreams(2, 60_000);
      for (const tab of [first, second]) await untilLive(tab);
      await system.create("for-each", {});
      for (const tab of [first, second])
        await expect.poll(() => row(tab, "for-each").textContent(), POLL).toContain("Processing");
      await system.remove("for-each");
      await second.goto(`${system.url}/api/docs`, { waitUntil: "commit" });
      await untilStreams(1);
    },
    240_000,
  );

  test.runIf(isTurnOf(2))(
    "share one again when a worker that was late has answered",
    async () => {
      const { page } = await openPage(browser, "about:blank");
      await page.context().addInitScript(`{
      const { start } = MessagePort.prototype;
      MessagePort.prototype.start = function () {
        window.letAnswer = () => { MessagePort.prototype.start = start; start.call(this); };
      };
    }`);
      const tabs = await openTabs(page.context(), ["/observers", "/observers"]);
      for (const tab of tabs) await untilLive(tab);
      await untilStreams(3); // that of the worker, which they cannot hear, and one for each
      for (const tab of tabs) await tab.evaluate("letAnswer()");
      await untilStreams(1);
      await system.create("for-both", {});
      for (const tab of tabs) {
        await expect.poll(() => row(tab, "for-both").textContent(), POLL).toContain("Processing");
        await untilLive(tab);
      }
      await system.remove("for-both");
    },
    240_000,
  );

  test.runIf(isTurnOf(1))(
    "keep to one stream when a tab comes back after the time in which it would have said that it is looked at",
    async () => {
      const { page: first } = await openPage(browser, `${system.url}/observers`);
      const tabs = [first, ...(await openTabs(first.context(), ["/observers"]))];
      for (const tab of tabs) await untilLive(tab);
      await first.goto(`${system.url}/api/docs`, { waitUntil: "commit" });
      await first.waitForTimeout(11_000);
      await first.evaluate("history.back()");
      await untilLive(first);
      await first.waitForTimeout(11_000); // it waits so long for a worker's answer before it has a stream of its own
      await untilLive(first);
      await untilStreams(1);
    },
    240_000,
  );

  test.runIf(isTurnOf(1))(
    "say that they are not live when the manager stands still, without a word on the wire",
    async () => {
      const { page } = await openPage(browser, `${system.url}/observers`);
      await untilLive(page);
      await manager.kill("SIGSTOP");
      try {
        await page.getByRole("banner").getByText("not connected").waitFor();
        await page.getByText("No connection to the manager.").waitFor();
      } finally {
        await manager.kill("SIGCONT");
      }
      await untilLive(page);
      await system.check();
    },
    240_000,
  );
});
