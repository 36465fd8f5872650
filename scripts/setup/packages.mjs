import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { step } from "../progress.mjs";
import { runTool } from "./run-tool.mjs";

/**
 * Installs exactly what the lock file says, unless that is installed already.
 *
 * @param {string} root
 */
export async function installPackagesIfStale(root) {
  if (packagesAreInstalled(root)) return;
  await step("Installing npm packages", async () => {
    // With the development packages even under NODE_ENV=production: the compiler and the embedded PostgreSQL are among them.
    const args = ["ci", "--include=dev", "--no-audit", "--no-fund"];
    await runTool("npm", args, { cwd: root, advice: "Is the npm registry reachable? Try it by hand: npm ci" });
    writeFileSync(stampFile(root), lockDigest(root));
  });
}

/**
 * By content where this script installed, since git gives a lock file a new time without a change; else by time, so that
 * what somebody installed by hand counts too.
 *
 * @param {string} root
 */
function packagesAreInstalled(root) {
  const installed = join(root, "node_modules", ".package-lock.json"); // npm writes it last
  if (!existsSync(installed)) return false;
  if (existsSync(stampFile(root)) && readFileSync(stampFile(root), "utf8") === lockDigest(root)) return true;
  return statSync(installed).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
}

/** @param {string} root */
function stampFile(root) {
  return join(root, "node_modules", ".unacked-packages");
}

/** @param {string} root */
function lockDigest(root) {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}
