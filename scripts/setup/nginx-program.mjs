import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { say, step } from "../progress.mjs";
import { canInstall } from "./apt-get.mjs";
import { unpackPackage } from "./foreign-package.mjs";

/** Ours, where the system has none: laid here and not installed, as Debian would start it on port 80. */
const OWN = fileURLToPath(new URL("../../.unacked/nginx/usr/sbin/nginx", import.meta.url));

export const WHY_NO_NGINX = "there is no nginx (apt-get install nginx)";

/** @returns {string | null} an nginx that runs; null where there is none. Debian's is not on everybody's path */
export function findNginx() {
  return ["nginx", "/usr/sbin/nginx", OWN].find((program) => spawnSync(program, ["-v"]).status === 0) ?? null;
}

/**
 * Makes sure that the test of a manager behind a proxy has one: as root on Debian. Where that cannot be done it is skipped, and
 * the last line of the tests says so.
 */
export async function provideNginx() {
  if (findNginx() !== null || !canInstall()) return;
  await step("Getting nginx for the test behind a proxy (about 1 MB)", () =>
    unpackPackage({ name: "nginx", folder: dirname(dirname(dirname(OWN))) }),
  ).catch((error) => say(`It could not be had: ${error instanceof Error ? error.message : error}`));
}
