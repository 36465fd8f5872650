import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { holdOnLeash } from "../processes/leash.mjs";
import { PlainError, say } from "../progress.mjs";
import { serveFeed } from "./feed.mjs";
import { until } from "./waiting.mjs";

/** Before it the new line goes, of which the log must tell while the observer runs. */
const PLACE = "const answer = await fetch(";
const NEW_CODE = "the new code looks at the feed";

/**
 * `npm run dev` as its user has it: everything starts, an observer runs, its file is saved and it goes over to the new code, and
 * the key q ends it all.
 *
 * @param {import("./stranger.mjs").Stranger} stranger
 * @param {string} project
 * @param {import("./servers.mjs").Servers["addresses"] | undefined} addresses of servers that it is given; else it starts its own
 */
export async function tryDev(stranger, project, addresses) {
  const feed = await serveFeed();
  const file = join(project, "observers/feed.ts");
  const code = readFileSync(file, "utf8");
  const dev = startDev(stranger, project, addresses);
  try {
    const url = await dev.url();
    const unacked = (/** @type {string[]} */ ...args) => stranger.run(project, "npx", ["unacked", ...args, "--url", url]);
    await dev.until("the types are known", async () => (await unacked("get", "types")).includes("feed"));
    await unacked("create", "feed", "edited", "--param", `url=${feed.url}`, "--param", "everyMs=200", "--wait");
    const savedAt = performance.now();
    writeFileSync(file, code.replace(PLACE, `ctx.log.info("${NEW_CODE}");\n      ${PLACE}`));
    await dev.until("the new code runs", () => dev.said(NEW_CODE));
    say(`  a saved file was the code of a running observer after ${Math.round(performance.now() - savedAt)} ms`);
    await unacked("stop", "edited");
    dev.press("q");
    await until("q has ended it all", () => dev.exitCode() !== null);
    if (dev.exitCode() !== 0) throw dev.failure("it should have ended in order");
  } finally {
    dev.end();
    writeFileSync(file, code);
    feed.close();
  }
}

/** @param {import("./stranger.mjs").Stranger} stranger @param {string} project @param {NodeJS.ProcessEnv} [more] */
function startDev({ env }, project, more) {
  const child = spawn("npm", ["run", "dev", "--", "--port", "0"], {
    cwd: project,
    env: { ...env, ...more },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  holdOnLeash(child);
  /** @type {string[]} */
  const lines = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => void lines.push(line));
  const said = (/** @type {string} */ part) => lines.some((line) => line.includes(part));
  const failure = (/** @type {string} */ why) =>
    new PlainError(`npm run dev: ${why} (exit code ${child.exitCode}). It said last:\n${lines.slice(-30).join("\n")}`);
  /** @param {string} what @param {() => boolean | Promise<boolean>} isSo */
  const untilIt = async (what, isSo) => {
    try {
      await until(what, () => child.exitCode !== null || isSo());
    } catch (error) {
      throw failure(/** @type {Error} */ (error).message);
    }
    if (child.exitCode !== null) throw failure(`it ended before ${what}`);
  };
  const urlOf = () => lines.map((line) => /Unacked runs: (\S+)/.exec(line)?.[1]).find((each) => each !== undefined);

  return {
    said,
    failure,
    until: untilIt,
    exitCode: () => child.exitCode,
    press: (/** @type {string} */ key) => void child.stdin.write(key),
    async url() {
      await untilIt("it runs", () => urlOf() !== undefined);
      return urlOf() ?? "";
    },
    end() {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    },
  };
}
