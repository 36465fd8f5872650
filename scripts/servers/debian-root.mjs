import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PlainError, step } from "../progress.mjs";
import { runTool } from "../setup/run-tool.mjs";
import { PRIVATE_MOUNTS } from "./other-root.mjs";
import { findOnPath } from "./rabbitmq-program.mjs";

/** A folder with another release of Debian and some packages of it. The system itself is not touched, and nothing stays mounted. */

/** Each run as `sh -c SCRIPT make ROOT SUITE MIRROR PACKAGE...`, in a mount namespace of its own. */
const MAKE_BASE = 'debootstrap --variant=minbase "$2" "$1" "$3"';
// A mirror that stands still (a snapshot, an archive) is as good for this: hence Check-Valid-Until.
const ADD_PACKAGES = `
root=$1; shift 3
printf '#!/bin/sh\\nexit 101\\n' > "$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
cp /etc/hosts /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt_get="apt-get -qq -o Acquire::Check-Valid-Until=false -o Dpkg::Options::=--force-unsafe-io"
chroot "$root" $apt_get update
chroot "$root" $apt_get install --yes --no-install-recommends "$@"
chroot "$root" apt-get clean`;

/**
 * With RabbitMQ. Made once; the next call finds it. Takes a minute and 200 MB of downloads.
 *
 * @param {string} suite `trixie`, `sid` …
 * @param {string} dir where such folders are kept
 * @returns {Promise<string>} the folder
 * @throws {PlainError} where it cannot be made
 */
export function debianRootWithRabbitmq(suite, dir) {
  return debianRootWith(["rabbitmq-server"], suite, join(dir, suite));
}

/**
 * @param {string[]} packages
 * @param {string} suite
 * @param {string} root the folder
 */
export async function debianRootWith(packages, suite, root) {
  if (existsSync(root)) return root;
  const mirror = debianMirror();
  if (mirror === null) throw new PlainError("/etc/apt names no mirror of Debian.");
  mkdirSync(dirname(root), { recursive: true, mode: 0o700 });
  const unfinished = `${root}.new`; // half of it is never taken for the whole
  rmSync(unfinished, { recursive: true, force: true });
  const [unshare = "", ...privately] = PRIVATE_MOUNTS;
  const make = (/** @type {string} */ script) =>
    runTool(unshare, [...privately, "/bin/sh", "-ec", script, "make", unfinished, suite, mirror, ...packages], {
      advice: `Is the mirror that /etc/apt names reachable, and does it have ${suite}?`,
    });
  try {
    await step(`Debian ${suite} into ${root}`, () => make(MAKE_BASE));
    await step(`Its ${packages.join(", ")}`, () => make(ADD_PACKAGES));
    renameSync(unfinished, root);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return root;
}

/** @returns {string | null} why no such folder can be made or used here; null if it can */
export function whyNoOtherRoot() {
  if (process.platform !== "linux") return "it needs Linux";
  if (process.getuid?.() !== 0) return "it needs root, for chroot and mount";
  if (debianMirror() === null) return "this is not a Debian with a mirror in /etc/apt";
  const missing = ["debootstrap", "unshare", "chroot"].find((program) => findOnPath(program) === null);
  return missing === undefined ? null : `${missing} is not installed (apt-get install ${missing})`;
}

/** The first address that this system's own sources give for Debian's `main`; null if they give none. */
export function debianMirror() {
  if (!existsSync("/etc/os-release") || !/^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"))) return null;
  const lines = sourceFiles().flatMap((file) => readFileSync(file, "utf8").split("\n"));
  const uris = lines.flatMap((line) => {
    // `URIs: http://…` (deb822) or `deb [options] http://… suite main`.
    const found = /^URIs:\s*(\S+)|^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+\S+\s+main\b/.exec(line);
    return found === null ? [] : [found[1] ?? found[2] ?? ""];
  });
  return uris.find((uri) => /\/debian\/?$/.test(uri)) ?? null;
}

function sourceFiles() {
  const more = "/etc/apt/sources.list.d";
  const files = existsSync(more) ? readdirSync(more).map((name) => join(more, name)) : [];
  return ["/etc/apt/sources.list", ...files].filter((file) => existsSync(file) && /\.(list|sources)$/.test(file));
}
