import { mkdirSync } from "node:fs";
import { runTool } from "../setup/run-tool.mjs";
import { runShown } from "../test/run-shown.mjs";
import { removeEmptyGroups } from "./engine.mjs";

/**
 * An engine leaves much behind when it is killed: containers that run on, networks, rules of the firewall, mounts. So it runs in
 * namespaces of its own, and whatever ends them, be it Ctrl-C or SIGKILL, the kernel takes all of it away.
 */

/**
 * Runs a script in processes and mounts of its own, `isCutOff` also in a network of its own, in which no port is taken.
 *
 * @param {{ root: string, script: string, args: string[], isCutOff: boolean }} what
 * @returns {Promise<number>} its exit code
 */
export async function runInOwnNamespaces({ root, script, args, isCutOff }) {
  const namespaces = ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const network = isCutOff ? ["--net"] : [];
  // catatonit as process 1: it passes signals on and reaps whatever a container's monitor leaves.
  const command = ["catatonit", "--", process.execPath, script, ...args];
  try {
    return await runShown("unshare", [...namespaces, ...network, ...command], root, "SIGKILL"); // it waits, and passes nothing on
  } finally {
    removeEmptyGroups();
  }
}

/**
 * What has to be done first in there.
 *
 * @param {import("./engine.mjs").Engine} engine
 * @param {{ isCutOff: boolean }} options
 */
export async function settleIn(engine, { isCutOff }) {
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.once(signal, () => process.exit(130));
  const run = `${engine.folder}/run`;
  mkdirSync(run, { recursive: true });
  // The state of what runs goes with its processes; Podman takes it for a machine that was started anew.
  await runTool("mount", ["-t", "tmpfs", "tmpfs", run]);
  if (isCutOff) {
    await runTool("mount", ["-t", "tmpfs", "tmpfs", "/run"]); // of runc, and of networks, whatever the settings
    await runTool("ip", ["link", "set", "lo", "up"]);
  }
  await sweep(engine);
}

/**
 * Containers and volumes of a run that was killed; images stay.
 *
 * @param {import("./engine.mjs").Engine} engine
 */
export async function sweep({ podman }) {
  await podman("pod", "rm", "--all", "--force", "--time", "0");
  await podman("rm", "--all", "--force", "--time", "0");
  await podman("volume", "rm", "--all", "--force");
  await podman("secret", "rm", "--all");
}
