import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { ROOT } from "./processes.ts";

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
  configMapGenerator?: Generator[];
  secretGenerator?: Generator[];
}

interface Generator {
  name: string;
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

/** What a kustomization lists and generates, read from its files: for machines without kubectl. Names bear no hashes. */
export function readKustomization(dir: string): Manifest[] {
  const {
    resources = [],
    configMapGenerator = [],
    secretGenerator = [],
  } = parse(readFileSync(join(ROOT, dir, "kustomization.yaml"), "utf8")) as Kustomization;
  const generated = (kind: string, key: string) => (generator: Generator) =>
    ({ apiVersion: "v1", kind, metadata: { name: generator.name }, [key]: generatedData(dir, generator) }) as Manifest;
  return [
    ...resources.flatMap((resource) => {
      const path = join(dir, resource);
      return statSync(join(ROOT, path)).isDirectory() ? readKustomization(path) : readManifests(path);
    }),
    ...configMapGenerator.map(generated("ConfigMap", "data")),
    ...secretGenerator.map(generated("Secret", "stringData")),
  ];
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
  for (const [key, path] of files.map((file) => splitAtEquals(file))) {
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
