import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import { findKubectl, WHY_NO_KUBECTL } from "../../../scripts/setup/kubectl-program.mjs";
import { ROOT } from "../processes/processes.ts";

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: unknown;
  data?: Record<string, string>;
  [field: string]: unknown;
}

/** Every document of a YAML file. Throws on any syntax error, duplicate keys included. */
export const readManifests = (file: string): Manifest[] => parseManifests(readFileSync(join(ROOT, file), "utf8"), file);

/**
 * What `kubectl kustomize` makes of a folder, as it makes it. Throws when it refuses. vitest.config.ts leaves out the files
 * that ask for this where there is no kubectl.
 *
 * @param component a folder that is laid upon it
 */
export function renderKustomization(dir: string, component?: string): Manifest[] {
  const kubectl = findKubectl();
  if (kubectl === null) throw new Error(WHY_NO_KUBECTL);
  const folder = mkdtempSync(join(tmpdir(), "unacked-kustomization-"));
  try {
    const from = (path: string) => JSON.stringify([relative(folder, join(ROOT, path))]);
    const components = component === undefined ? "" : `components: ${from(component)}\n`;
    writeFileSync(join(folder, "kustomization.yaml"), `resources: ${from(dir)}\n${components}`);
    const { status, stdout, stderr } = spawnSync(kubectl, ["kustomize", folder], { encoding: "utf8" });
    if (status !== 0) throw new Error(`kubectl kustomize ${dir}: ${stderr}`);
    return parseManifests(stdout, dir).map(withoutFolds);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the names that the files give: without the hashes that are added to them, wherever they are named. */
export function withoutHashes(manifests: readonly Manifest[]): Manifest[] {
  let text = JSON.stringify(manifests);
  for (const { kind, metadata } of manifests)
    if (kind === "ConfigMap" || kind === "Secret")
      text = text.replaceAll(`"${metadata.name}"`, JSON.stringify(metadata.name.replace(/-[a-z0-9]{10}$/, "")));
  return JSON.parse(text) as Manifest[];
}

/** Secrets with their values to read, as somebody would write them. */
export const withReadableSecrets = (manifests: readonly Manifest[]): Manifest[] =>
  manifests.map((each) => {
    if (each.kind !== "Secret" || each.data === undefined) return each;
    const { data, ...rest } = each;
    const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
    return { ...rest, stringData: Object.fromEntries(entries) as Record<string, string> } as Manifest;
  });

function parseManifests(text: string, from: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`${from}: ${document.errors.map((error) => error.message).join("; ")}`);
    return document.toJS() as Manifest;
  });
}

/** kubectl breaks long base64 into lines; the API reads over them, its validators do not. */
function withoutFolds(manifest: Manifest): Manifest {
  if (manifest.kind !== "Secret" || manifest.data === undefined) return manifest;
  const entries = Object.entries(manifest.data).map(([key, value]) => [key, value.replaceAll(/\s/g, "")]);
  return { ...manifest, data: Object.fromEntries(entries) as Record<string, string> };
}
