import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page, type Response } from "playwright-core";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "../../../scripts/setup/browser-program.mjs";
import { ROOT } from "../processes/processes.ts";
import { watchAnswer } from "../rest/watched-answers.ts";
import { keepOpen } from "./browsers-open.ts";

/** What everything on a page waits for at most: a loaded machine is slow, a broken page is slower. */
const PATIENCE_MS = 60_000;

/** A page, and what went wrong in it: errors that nobody caught, and what the Content-Security-Policy refused. */
export interface WatchedPage {
  page: Page;
  problems: string[];
  /** Addresses of other hosts that it asked for anything. */
  foreign: string[];
}

/**
 * One browser for the file, closed with its system.
 * @param keepsLeftPages as people's browsers do, for Back; a driven one does not by itself
 * @param trustsAnybody takes every certificate, also for the workers of a page
 */
export async function launchBrowser({ keepsLeftPages = false, trustsAnybody = false } = {}): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error(HOW_TO_GET_A_BROWSER);
  // No sandbox: it cannot be made by root, nor in most containers. The pages are our own.
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage", ...(trustsAnybody ? ["--ignore-certificate-errors"] : [])],
    ignoreDefaultArgs: keepsLeftPages ? ["--disable-back-forward-cache"] : [],
  });
  keepOpen(() => browser.close());
  return browser;
}

/** Opens an address in a context of its own (storage, colours, size). */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: WIDE, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  const foreign: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) problems.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).host !== new URL(url).host) foreign.push(request.url());
  });
  page.on("response", (response) => void watchResponse(response));
  await page.goto(url);
  return { page, problems, foreign };
}

/** What the page is answered is held against the OpenAPI document, too. A stream is watched by its head: its body has no end. */
async function watchResponse(response: Response): Promise<void> {
  const { headers, text } = await textOf(response).catch(() => ({ headers: undefined, text: "" })); // the page went on without it
  if (headers === undefined) return;
  const url = new URL(response.url());
  const answer = { method: response.request().method(), status: response.status(), headers: new Headers(headers), text };
  watchAnswer({ ...answer, url: `${url.pathname}${url.search}` });
}

async function textOf(response: Response): Promise<{ headers: Record<string, string>; text: string }> {
  const headers = await response.allHeaders();
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  return { headers, text: isStream ? "" : await response.text() };
}

export const WIDE = { width: 1360, height: 860 };
export const NARROW = { width: 390, height: 844 };

/** Those that docs/operators-guide.md shows; `UPDATE_PICTURES=1 npm test -- test/browser` takes them again. */
const OF_THE_GUIDE = [
  "overview-light-wide",
  "observers-light-wide",
  "observer-light-wide",
  "services-light-wide",
  "errors-light-wide",
  "task-figures-light-wide",
  "flow-light-wide",
  "schedule-market-light-wide",
];

/** Into test-results/, which git ignores: to be looked at. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (process.env.UPDATE_PICTURES === "1" && OF_THE_GUIDE.includes(name)) {
    await page.screenshot({ path: join(ROOT, "docs", "pictures", `${name.replace("-light-wide", "")}.png`) });
  }
  const folder = join(ROOT, "test-results", "status-page");
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Waits until the page says that the stream is open and the list is whole. */
export async function untilLive(page: Page): Promise<void> {
  await page.getByRole("banner").getByText("live", { exact: true }).waitFor();
}

export const POLL = { timeout: PATIENCE_MS, interval: 50 };
