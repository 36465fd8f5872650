import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { say, step } from "../progress.mjs";
import { debianMirror } from "../servers/debian-root.mjs";
import { findOnPath } from "../servers/rabbitmq-program.mjs";
import { canInstall } from "./apt-get.mjs";
import { runTool } from "./run-tool.mjs";

/** Ours, where the system has none that does. */
const OWN = fileURLToPath(new URL("../../.unacked/kubectl/usr/bin/kubectl", import.meta.url));

/** Its kubectl brings kustomize 5; Debian 12's (1.20) brings one of before components. */
const SUITE = "trixie";

export const WHY_NO_KUBECTL = "there is no kubectl with kustomize 4 or later";

/** @returns {string | null} the program of a kubectl that can make the manifests of k8s/; null where there is none */
export function findKubectl() {
  const onPath = findOnPath("kubectl");
  return [...(onPath === null ? [] : [onPath]), ...(existsSync(OWN) ? [OWN] : [])].find(hasKustomize) ?? null;
}

/** @param {string} kubectl */
function hasKustomize(kubectl) {
  const { stdout } = spawnSync(kubectl, ["version", "--client", "--output=json"], { encoding: "utf8" });
  return /"kustomizeVersion": "v([4-9]|\d\d)/.test(stdout ?? "");
}

/**
 * Makes sure that the tests of the manifests have one: as root on Debian, from its next release, into a folder of ours. Where
 * that cannot be done they are skipped, and the last line of the tests says so.
 */
export async function provideKubectl() {
  const mirror = debianMirror();
  if (findKubectl() !== null || !canInstall() || mirror === null) return;
  await step(`Getting kubectl of Debian ${SUITE} for the tests of k8s/ (about 16 MB)`, () => download(mirror)).catch(
    (error) => say(`It could not be had: ${error instanceof Error ? error.message : error}`),
  );
}

/**
 * With lists and a cache of its own, so that the system's packages are not touched. A mirror that stands still is as good for
 * this: hence Check-Valid-Until.
 *
 * @param {string} mirror
 */
async function download(mirror) {
  const folder = dirname(dirname(dirname(OWN)));
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  const work = mkdtempSync(`${folder}-`); // half of it is never taken for the whole
  try {
    const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
    writeFileSync(join(work, "sources.list"), `deb [signed-by=${keyring}] ${mirror} ${SUITE} main\n`);
    for (const name of ["lists", "cache/archives"]) mkdirSync(join(work, name, "partial"), { recursive: true });
    const settings = {
      "Dir::Etc::SourceList": join(work, "sources.list"),
      "Dir::Etc::SourceParts": "/dev/null",
      "Dir::State::Lists": join(work, "lists"),
      "Dir::State::Status": "/dev/null",
      "Dir::Cache": join(work, "cache"),
      "Acquire::Check-Valid-Until": "false",
      "Acquire::Languages": "none",
      "APT::Sandbox::User": "root",
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
    await runTool("apt-get", ["-qq", ...options, "update"]);
    await runTool("apt-get", ["-qq", ...options, "download", "kubectl"], { cwd: work });
    const [archive = ""] = readdirSync(work).filter((name) => name.endsWith(".deb"));
    await runTool("dpkg-deb", ["-x", join(work, archive), join(work, "root")]);
    renameSync(join(work, "root"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
