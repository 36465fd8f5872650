import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { say, step } from "../progress.mjs";
import { debianMirror } from "../servers/debian-root.mjs";
import { findOnPath } from "../servers/rabbitmq-program.mjs";
import { canInstall } from "./apt-get.mjs";
import { unpackForeignPackage } from "./foreign-package.mjs";

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
  await step(`Getting kubectl of Debian ${SUITE} for the tests of k8s/ (about 16 MB)`, () =>
    unpackForeignPackage({ name: "kubectl", suite: SUITE, mirror, folder: dirname(dirname(dirname(OWN))) }),
  ).catch((error) => say(`It could not be had: ${error instanceof Error ? error.message : error}`));
}
