import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { PlainError } from "../progress.mjs";
import { findKubectl, WHY_NO_KUBECTL } from "../setup/kubectl-program.mjs";

/**
 * An overlay of k8s/ as kubectl makes it: its pods, and what they read.
 *
 * @param {string} root
 * @param {string} overlay
 */
export function readOverlay(root, overlay) {
  const kubectl = findKubectl();
  if (kubectl === null) throw new PlainError(`The manifests cannot be rendered: ${WHY_NO_KUBECTL}.`);
  const { status, stdout, stderr } = spawnSync(kubectl, ["kustomize", join(root, "k8s/overlays", overlay)], {
    encoding: "utf8",
  });
  if (status !== 0) throw new PlainError(`kubectl kustomize: ${stderr}`);
  const manifests = parseAllDocuments(stdout).map((document) => document.toJS());
  const ofKind = (/** @type {string} */ kind) => manifests.filter((each) => each.kind === kind);
  const decoded = (/** @type {Record<string, string>} */ data) =>
    Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  return {
    ofKind,
    kept: {
      secrets: Object.fromEntries(ofKind("Secret").map(({ metadata, data = {} }) => [metadata.name, decoded(data)])),
      configMaps: Object.fromEntries(ofKind("ConfigMap").map(({ metadata, data = {} }) => [metadata.name, data])),
    },
    /** @param {string} name @returns {import("./pod.mjs").PodWish[]} as many as the workload asks for */
    podsOf(name) {
      const workload = [...ofKind("Deployment"), ...ofKind("StatefulSet")].find(({ metadata }) => metadata.name === name);
      if (workload === undefined) throw new PlainError(`The overlay ${overlay} has no ${name}.`);
      const { replicas = 1, template, volumeClaimTemplates = [] } = workload.spec;
      const claims = volumeClaimTemplates.map((/** @type {{ metadata: { name: string } }} */ { metadata }) => metadata.name);
      return Array.from({ length: replicas }, (_, index) => ({
        name: `${name}-${index}`,
        aliases: servicesFor(ofKind("Service"), template.metadata.labels),
        spec: template.spec,
        claims,
      }));
    },
  };
}

/**
 * @param {any[]} services
 * @param {Record<string, string>} labels
 * @returns {string[]}
 */
function servicesFor(services, labels) {
  const chooses = (/** @type {any} */ { spec }) =>
    Object.entries(spec.selector ?? {}).every(([key, value]) => labels[key] === value);
  return services.filter(chooses).map(({ metadata }) => metadata.name);
}
