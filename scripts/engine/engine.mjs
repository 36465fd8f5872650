import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { step } from "../progress.mjs";
import { findOnPath } from "../servers/rabbitmq-program.mjs";
import { canInstall, installPackage } from "../setup/apt-get.mjs";
import { runTool } from "../setup/run-tool.mjs";

/** Podman with images, containers and settings of its own below .unacked: whatever else the machine's Podman has is not seen. */

const PROGRAMS = ["podman", "runc", "iptables", "catatonit", "ip", "unshare"];
const PACKAGES = ["podman", "runc", "iptables", "netavark", "aardvark-dns", "catatonit", "iproute2", "debootstrap"];
const HELPERS = "/usr/lib/podman"; // where Debian has netavark, which Podman itself looks for elsewhere

/** @returns {Promise<string | null>} why there can be no engine here; null where there is one */
export async function provideEngine() {
  if (process.platform !== "linux") return "it needs Linux";
  if (process.getuid?.() !== 0) return "it needs root";
  if (whatIsMissing() === null) return null;
  if (!canInstall()) return `${whatIsMissing()} is not installed`;
  const advice = `Install them yourself: apt-get install ${PACKAGES.join(" ")}`;
  const failure = await step("Installing Podman by apt-get", () => installPackage(PACKAGES, advice)).then(
    () => null,
    (error) => /** @type {Error} */ (error).message,
  );
  return failure === null ? whatIsMissing() : `Podman could not be installed (${failure.split("\n")[0]})`;
}

/** @returns {string | null} a program, or what is none */
export function whatIsMissing() {
  if (process.platform !== "linux") return "Linux";
  const program = PROGRAMS.find((each) => findOnPath(each) === null);
  return program ?? (existsSync(join(HELPERS, "netavark")) ? null : "netavark");
}

/**
 * @typedef {object} Engine
 * @property {string} folder
 * @property {NodeJS.ProcessEnv} env by which Podman, and whoever speaks to it, finds this one
 * @property {(...args: string[]) => Promise<string>} podman
 */

/**
 * @param {string} root of the repository
 * @returns {Engine}
 */
export function engineOf(root) {
  const folder = join(root, ".unacked/engine");
  const run = join(folder, "run");
  mkdirSync(run, { recursive: true, mode: 0o700 });
  const env = {
    ...process.env,
    CONTAINERS_CONF: join(folder, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
    BUILDAH_FORMAT: "docker", // OCI's has no place for a health check
    BUILDAH_ISOLATION: "chroot", // a build then needs no network but the machine's own
  };
  writeFileSync(env.CONTAINERS_CONF, containersConf(run));
  writeFileSync(
    env.CONTAINERS_STORAGE_CONF,
    `[storage]\ndriver = "overlay"\ngraphroot = "${join(folder, "storage")}"\nrunroot = "${run}"\n`,
  );
  return { folder, env, podman: (...args) => runTool("podman", args, { env }) };
}

/** @param {string} run */
function containersConf(run) {
  // runc: crun refuses a kernel whose cgroups are of both versions. The limits: raising one may not be permitted.
  return `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
helper_binaries_dir = ["${HELPERS}"]
tmp_dir = "${join(run, "libpod")}"
[network]
network_backend = "netavark"
network_config_dir = "${join(run, "networks")}"
`;
}

/** What a namespace does not take with it when it ends: the empty groups of containers that are gone. */
export function removeEmptyGroups() {
  const base = "/sys/fs/cgroup";
  const controllers = existsSync(base) ? ["", ...readdirSync(base)].map((name) => join(base, name)) : []; // version 2 has none
  for (const folder of controllers.map((each) => join(each, "libpod_parent"))) removeEmpty(folder);
}

/** @param {string} folder */
function removeEmpty(folder) {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
    rmdirSync(folder); // refused while a process is in it
  } catch {
    // not there, or somebody's who runs still
  }
}
