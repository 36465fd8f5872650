import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PlainError, step } from "../progress.mjs";
import { freePort } from "../servers/free-port.mjs";
import { endServerProcess, startServerProcess } from "../servers/server-process.mjs";
import { runTool } from "../setup/run-tool.mjs";

/**
 * A registry of one's own, which has our packages and gets all others from the one that npm is set to. It is no package of
 * this repository: it has hundreds of its own, which nobody needs who does not run this.
 */
const VERDACCIO = "6.8.0"; // the last that runs on Node 20
/** It asks for a version by a tag, which not every registry has. */
const OVERRIDES = { "node-fetch": "2.7.0" };
const PATIENCE_MS = 120_000;

/**
 * Why `npm test -- --all` leaves the trial of the packages out, "" where it does not: what a new user installs comes from a
 * registry. npm asks, as only it knows of its proxies and certificates, and with an empty cache, so that it really asks.
 *
 * @param {string} root
 */
export async function whyNoPackagesTrial(root) {
  const cache = mkdtempSync(join(tmpdir(), "unacked-npm-cache-"));
  const quick = ["--fetch-retries=0", "--fetch-timeout=15000"];
  try {
    await runTool("npm", ["view", "tsx", "version", "--cache", cache, ...quick], { cwd: root });
    return "";
  } catch {
    return "npm's registry cannot be reached";
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}

/** @param {string} root @returns {Promise<string>} the folder where it is installed */
export async function provideRegistry(root) {
  const folder = join(root, ".unacked/tools", `verdaccio-${VERDACCIO}`);
  if (existsSync(folder)) return folder;
  const work = `${folder}.${process.pid}`; // half of it is never taken for the whole
  await step(`Installing Verdaccio ${VERDACCIO}`, async () => {
    mkdirSync(work, { recursive: true });
    const manifest = { private: true, dependencies: { verdaccio: VERDACCIO }, overrides: OVERRIDES };
    writeFileSync(join(work, "package.json"), JSON.stringify(manifest));
    try {
      await runTool("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"], { cwd: work });
      renameSync(work, folder);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
  return folder;
}

/**
 * @param {string} program the folder of {@link provideRegistry}
 * @param {string} dir for what it keeps
 */
export async function startRegistry(program, dir) {
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const upstream = (await runTool("npm", ["config", "get", "registry"])).trim();
  const config = join(dir, "config.yaml");
  writeFileSync(config, configuration(dir, upstream));
  const server = await startServerProcess({
    program: process.execPath,
    args: [join(program, "node_modules/verdaccio/bin/verdaccio"), "--config", config, "--listen", `127.0.0.1:${port}`],
    env: process.env,
    cwd: dir,
    logFile: join(dir, "registry.log"),
    pidFile: join(dir, "registry.pid.json"),
  });
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await answers(`${url}-/ping`))) {
    const outcome = server.outcome();
    if (outcome !== null || performance.now() > deadline)
      throw new PlainError(`The registry does not run (${outcome ?? "no answer"}). Its log: ${join(dir, "registry.log")}`);
    await sleep(100);
  }
  return { url, stop: () => endServerProcess(server, "SIGTERM", 5_000) };
}

/** @param {string} url */
async function answers(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false; // not yet
  }
}

/**
 * JSON is YAML. Ours are asked of nobody else, so that none of the same name can come from outside.
 *
 * @param {string} dir
 * @param {string} upstream
 */
function configuration(dir, upstream) {
  const ours = { access: "$all", publish: "$all", unpublish: "$all" };
  return JSON.stringify({
    storage: join(dir, "storage"),
    auth: { htpasswd: { file: join(dir, "htpasswd"), max_users: -1 } },
    uplinks: { upstream: { url: upstream, timeout: "60s", max_fails: 20, maxage: "60m" } },
    packages: {
      "@unacked/*": ours,
      unacked: ours,
      "create-unacked": ours,
      "**": { access: "$all", proxy: "upstream" },
    },
    web: { enable: false },
    max_body_size: "100mb",
    log: { type: "stdout", format: "json", level: "warn" },
  });
}
