import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "../scripts/setup/browser-program.mjs";
import { startFeed } from "./page/feed.mjs";

/** @typedef {{ first?: number, all?: number }} Seen */

/**
 * `npm run bench:page`: how the status page holds many observers that change all the time. A feed stands in for the manager
 * (same calls, same stream), so that what is measured is the page alone. Prints frames a second (median, worst second), the heap
 * after a garbage collection, and how long until the first rows and until all are there.
 */

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "100000" },
    rate: { type: "string", default: "5000" },
    seconds: { type: "string", default: "20" },
    address: { type: "string", default: "/observers" },
  },
});
const rows = Number(values.rows);
const rate = Number(values.rate);
const seconds = Number(values.seconds);
const LEAST_FPS = 50;
const WHOLE_TIMEOUT_MS = 120_000;

const executablePath = findBrowser();
if (executablePath === null) throw new Error(HOW_TO_GET_A_BROWSER);
const dist = join(root, "services/status-page/dist");
if (!existsSync(join(dist, "index.html"))) throw new Error("The status page is not built: npm run build");

const feed = await startFeed({ dist, rows });
const flags = ["--no-sandbox", "--disable-dev-shm-usage", "--js-flags=--expose-gc", "--enable-precise-memory-info"];
const browser = await chromium.launch({ executablePath, args: flags });
try {
  const page = await browser.newPage({ viewport: { width: 1360, height: 860 }, locale: "en-US" });
  const isList = values.address.startsWith("/observers");
  if (isList) await page.addInitScript({ content: watchingFor(`${rows.toLocaleString("en-US")} shown`) });
  await page.goto(`${feed.url}${values.address}`);
  if (isList) {
    await page.waitForFunction("seen.all !== undefined", undefined, { polling: 1_000, timeout: WHOLE_TIMEOUT_MS });
    const seen = /** @type {Seen} */ (await page.evaluate("seen"));
    console.log(`first rows after ${Math.round(seen.first ?? 0)} ms`);
    console.log(`all ${rows.toLocaleString("en-US")} rows after ${Math.round(seen.all ?? 0)} ms`);
  }
  await page.evaluate("frames = []; (function next() { frames.push(performance.now()); requestAnimationFrame(next); })()");
  const sent = await feed.change({ rate, seconds });
  const perSecond = framesPerSecond(/** @type {number[]} */ (await page.evaluate("frames")));
  const [median, worst] = [perSecond[perSecond.length >> 1] ?? 0, perSecond[0] ?? 0];
  console.log(
    `${Math.round(sent / seconds)} changes/s for ${seconds} s: ${median} frames/s median, ${worst} in the worst second`,
  );
  console.log(`heap ${await page.evaluate("gc(); Math.round(performance.memory.usedJSHeapSize / 1e6)")} MB`);
  if (median < LEAST_FPS) {
    console.error(`The median is under ${LEAST_FPS} frames/s.`);
    process.exitCode = 1;
  }
} finally {
  await browser.close();
  feed.close();
}

/**
 * Notes in which frame the list has its first rows, and all of them, in ms since the navigation began. In the page itself: whoever asks from outside
 * takes a tenth of a second from it, and asks too seldom.
 *
 * @param {string} whole what the page says then
 */
function watchingFor(whole) {
  return `
  seen = {};
  requestAnimationFrame(function look() {
    if (document.querySelectorAll('[role="row"]').length > 5) seen.first ??= performance.now();
    if (document.querySelector("main")?.textContent.includes(${JSON.stringify(whole)})) seen.all = performance.now();
    else requestAnimationFrame(look);
  });`;
}

/** Of each whole second, the worst first. @param {number[]} framesMs */
function framesPerSecond(framesMs) {
  const [firstMs = 0] = framesMs;
  const counts = /** @type {number[]} */ ([]);
  for (const atMs of framesMs) {
    const second = Math.floor((atMs - firstMs) / 1_000);
    counts[second] = (counts[second] ?? 0) + 1;
  }
  return counts.slice(0, -1).sort((a, b) => a - b);
}
