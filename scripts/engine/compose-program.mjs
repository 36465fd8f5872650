import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { holdOnLeash } from "../processes/leash.mjs";
import { PlainError, step } from "../progress.mjs";
import { debianMirror } from "../servers/debian-root.mjs";
import { unpackForeignPackage } from "../setup/foreign-package.mjs";
import { runTool } from "../setup/run-tool.mjs";

/** Docker Compose 2, which Debian has from its next release on: the very program of `docker compose`, spoken to Podman's socket. */

const SUITE = "trixie";
const START_TIMEOUT_MS = 60_000;

/** @param {string} folder */
const programIn = (folder) => join(folder, "compose/usr/libexec/docker/cli-plugins/docker-compose");

/** @param {import("./engine.mjs").Engine} engine */
export async function provideCompose({ folder }) {
  if (existsSync(programIn(folder))) return;
  const mirror = debianMirror();
  if (mirror === null) throw new PlainError("There is no Docker Compose 2 here: /etc/apt names no mirror of Debian.");
  await step(`Getting Docker Compose of Debian ${SUITE} (about 13 MB)`, () =>
    unpackForeignPackage({ name: "docker-compose", suite: SUITE, mirror, folder: join(folder, "compose") }),
  );
}

/**
 * Runs Compose on the project's file for as long as `work` lasts.
 *
 * @template T
 * @param {import("./engine.mjs").Engine} engine
 * @param {{ root: string, settings: Record<string, string> }} project `settings`: what a person would set in the shell
 * @param {(compose: (...args: string[]) => Promise<string>) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withCompose({ folder, env }, { root, settings }, work) {
  const socket = `unix://${join(folder, "run/podman.sock")}`;
  const service = spawn("podman", ["system", "service", "--time", "0", socket], { env, stdio: "ignore", detached: true });
  holdOnLeash(service);
  let isOver = false;
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => service.once("exit", resolve).once("error", () => resolve()));
  void ended.then(() => (isOver = true));
  const composeEnv = { ...env, ...settings, DOCKER_HOST: socket, DOCKER_BUILDKIT: "0" };
  const compose = (/** @type {string[]} */ ...args) => runTool(programIn(folder), args, { cwd: root, env: composeEnv });
  try {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!existsSync(socket.slice("unix://".length))) {
      if (isOver || performance.now() > deadline) throw new PlainError("Podman's service does not answer.");
      await sleep(50);
    }
    return await work(compose);
  } finally {
    service.kill("SIGTERM");
    await ended;
  }
}
