import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { ROOT } from "../processes/processes.ts";

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: unknown;
  data?: Record<string, string>;
  [field: string]: unknown;
}

interface Kustomization {
  resources?: string[];
  components?: string[];
  configMapGenerator?: Generator[];
  secretGenerator?: Generator[];
  patches?: { target: { kind: string; name: string }; patch: string }[];
}

interface Generator {
  name: string;
  behavior?: "merge";
  literals?: string[];
  files?: string[];
}

/** Every document of a YAML file. Throws on any syntax error, duplicate keys included. */
export function readManifests(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(ROOT, file), "utf8")).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.map((error) => error.message).join("; ")}`);
    return document.toJS() as Manifest;
  });
}

/**
 * What a kustomization lists, generates and patches (as JSON Patch), read from its files: for machines without kubectl. Names
 * bear no hashes, and neither namespace nor common labels are added. `below`: what a component is laid upon.
 */
export function readKustomization(dir: string, below: Manifest[] = []): Manifest[] {
  const kustomization = parse(readFileSync(join(ROOT, dir, "kustomization.yaml"), "utf8")) as Kustomization;
  const { resources = [], components = [], configMapGenerator = [], secretGenerator = [], patches = [] } = kustomization;
  const listed = resources.flatMap((resource) => {
    const path = join(dir, resource);
    return statSync(join(ROOT, path)).isDirectory() ? readKustomization(path) : readManifests(path);
  });
  let manifests = [...below, ...listed];
  for (const component of components) manifests = readKustomization(join(dir, component), manifests);
  for (const generator of configMapGenerator) manifests = generate(manifests, dir, "ConfigMap", generator);
  for (const generator of secretGenerator) manifests = generate(manifests, dir, "Secret", generator);
  for (const { target, patch } of patches) {
    const found = manifests.filter(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
    if (found.length === 0) throw new Error(`${dir} patches ${target.kind} ${target.name}, which is not there`);
    for (const manifest of found) for (const operation of parse(patch) as PatchOperation[]) applyPatch(manifest, operation);
  }
  return manifests;
}

function generate(manifests: Manifest[], dir: string, kind: "ConfigMap" | "Secret", generator: Generator): Manifest[] {
  const key = kind === "ConfigMap" ? "data" : "stringData";
  const { name, behavior } = generator;
  const made = { apiVersion: "v1", kind, metadata: { name }, [key]: generatedData(dir, generator) } as Manifest;
  if (behavior !== "merge") return [...manifests, made];
  return manifests.map((each) =>
    each.kind === kind && each.metadata.name === name
      ? { ...each, [key]: { ...(each[key] as object), ...(made[key] as object) } }
      : each,
  );
}

/** RFC 6902, as far as it is used. */
interface PatchOperation {
  op: "add" | "replace" | "remove";
  path: string;
  value?: unknown;
}

function applyPatch(manifest: Manifest, { op, path, value }: PatchOperation): void {
  const keys = path.split("/").slice(1);
  const last = keys.pop() ?? "";
  let node: unknown = manifest;
  for (const key of keys) node = (node as Record<string, unknown>)[key];
  if (node === undefined) throw new Error(`${manifest.kind} ${manifest.metadata.name} has no ${path}`);
  if (!Array.isArray(node)) {
    if (op !== "add" && !(last in (node as object))) throw new Error(`${manifest.kind} has no ${path}`);
    if (op === "remove") delete (node as Record<string, unknown>)[last];
    else (node as Record<string, unknown>)[last] = value;
  } else if (op === "add") node.splice(last === "-" ? node.length : Number(last), 0, value);
  else node.splice(Number(last), 1, ...(op === "replace" ? [value] : []));
}

/** What `kubectl kustomize` makes of it; undefined where there is no kubectl. Throws when it refuses. */
export function renderKustomization(dir: string): Manifest[] | undefined {
  const { error, status, stdout, stderr } = spawnSync("kubectl", ["kustomize", dir], { cwd: ROOT, encoding: "utf8" });
  if (error !== undefined) return undefined;
  if (status !== 0) throw new Error(`kubectl kustomize ${dir}: ${stderr}`);
  return parseAllDocuments(stdout).map((document) => withoutFolds(document.toJS() as Manifest));
}

/** kubectl breaks long base64 into lines; the API reads over them, its validators do not. */
function withoutFolds(manifest: Manifest): Manifest {
  if (manifest.kind !== "Secret") return manifest;
  const entries = Object.entries(manifest.data ?? {}).map(([key, value]) => [key, value.replaceAll(/\s/g, "")]);
  return { ...manifest, data: Object.fromEntries(entries) as Record<string, string> };
}

function generatedData(dir: string, { literals = [], files = [] }: Generator): Record<string, string> {
  const entries = literals.map((literal) => splitAtEquals(literal));
  for (const [key, path] of files.map((file) => splitAtEquals(file.includes("=") ? file : `${basename(file)}=${file}`))) {
    const file = join(ROOT, dir, path);
    if (!existsSync(file)) throw new Error(`${dir}/kustomization.yaml names ${path}, which is not there`);
    entries.push([key, readFileSync(file, "utf8")]);
  }
  return Object.fromEntries(entries);
}

function splitAtEquals(text: string): [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}
