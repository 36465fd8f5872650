import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../processes/processes.ts";
import { CUSTOM_RESOURCES } from "./custom-resources.ts";
import type { Manifest } from "./kustomization.ts";

const require = createRequire(import.meta.url);
const MODELS = dirname(require.resolve("kubernetes-models/package.json"));

/**
 * What the Kubernetes API would not take of these manifests; empty when it would take them. Values, formats and required
 * fields by the models' validators. Unknown fields by the compiler, as the validators let them pass: each manifest becomes
 * an object literal of its kind's type, where one field too many is an error. Kinds of operators by CUSTOM_RESOURCES.
 */
export function apiFlaws(manifests: readonly Manifest[]): string[] {
  const isCustom = ({ apiVersion, kind }: Manifest) => `${apiVersion} ${kind}` in CUSTOM_RESOURCES;
  const flaws = manifests.filter(isCustom).flatMap(customFlaws);
  const ofKubernetes = manifests.filter((manifest) => !isCustom(manifest));
  for (const manifest of ofKubernetes) {
    const { apiVersion, kind, metadata } = manifest;
    try {
      const { [kind]: KindOf } = require(join(MODELS, apiVersion, `${kind}.js`)) as Record<string, Model>;
      if (KindOf === undefined) throw new Error("the API has no such kind");
      new KindOf(manifest).validate();
    } catch (error) {
      flaws.push(`${kind} ${metadata.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return [...flaws, ...typeFlaws(ofKubernetes)];
}

function customFlaws({ apiVersion, kind, metadata, spec }: Manifest): string[] {
  const { error } = CUSTOM_RESOURCES[`${apiVersion} ${kind}`]?.safeParse(spec) ?? {};
  return (error?.issues ?? []).map(({ path, message }) => `${kind} ${metadata.name}: ${path.join(".")}: ${message}`);
}

type Model = new (data: unknown) => { validate(): void };

const COMPILER_OPTIONS = {
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  module: "esnext",
  moduleResolution: "bundler",
  types: [],
};

function typeFlaws(manifests: readonly Manifest[]): string[] {
  const dir = mkdtempSync(join(tmpdir(), "unacked-manifests-"));
  try {
    const lines = manifests.flatMap((manifest, index) => {
      const from = JSON.stringify(join(MODELS, manifest.apiVersion, manifest.kind));
      const literal = JSON.stringify(manifest, null, 1);
      return [
        `import type { I${manifest.kind} as Kind${index} } from ${from};`,
        `export const manifest${index}: Kind${index} = ${literal};`,
      ];
    });
    writeFileSync(join(dir, "manifests.ts"), lines.join("\n"));
    writeFileSync(
      join(dir, "tsconfig.json"),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ["manifests.ts"] }),
    );
    const { status, stdout, stderr } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", dir, "--pretty", "false"], {
      encoding: "utf8",
    });
    if (status === 0) return [];
    return `${stdout}${stderr}`
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith(" "));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
