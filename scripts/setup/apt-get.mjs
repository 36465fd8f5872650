import { existsSync, readFileSync } from "node:fs";
import { findOnPath } from "../servers/rabbitmq-program.mjs";
import { runTool } from "./run-tool.mjs";

export function isDebianLike() {
  return existsSync("/etc/os-release") && /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync("/etc/os-release", "utf8"));
}

/** Whether we may install: root on Debian or Ubuntu. */
export function canInstall() {
  return process.getuid?.() === 0 && isDebianLike() && findOnPath("apt-get") !== null;
}

/**
 * @param {string | string[]} names
 * @param {string} advice what to do when it fails
 */
export async function installPackage(names, advice) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const aptGet = (/** @type {string[]} */ ...args) => runTool("apt-get", ["-qq", ...args], { env, advice });
  const install = () => aptGet("install", "--yes", "--no-install-recommends", ...[names].flat());
  // The package lists of a fresh image are missing, those of an old one out of date.
  await install().catch(() => aptGet("update").then(install));
}
