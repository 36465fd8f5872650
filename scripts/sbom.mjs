/**
 * `npm run sbom [-- FILE]`: writes what the two programs are made of as CycloneDX, by `npm sbom`: every package of the lock
 * file that they and the shipped observers need, with version, licence and hash; no tools of development. Default file:
 * sbom.cdx.json.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const file = resolve(process.argv[2] ?? "sbom.cdx.json");
const workspaces = ["services/observer-manager", "services/observer-service", "observers"];

// Not `--omit=dev`: npm then leaves out whatever is for development too, elsewhere in the repository (pg, for tests).
const { status, stdout, stderr } = spawnSync(
  "npm",
  ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", ...workspaces.map((each) => `--workspace=${each}`)],
  { cwd: root, encoding: "utf8", maxBuffer: 64 * 2 ** 20 },
);
if (status !== 0) {
  console.error(`npm sbom failed; it needs npm 10 or later.\n${stderr}`);
  process.exit(1);
}
const bom = JSON.parse(stdout);
// npm names what is in this repository by its folder.
for (const each of [bom.metadata.component, ...bom.components])
  each.name = each["bom-ref"].slice(0, each["bom-ref"].lastIndexOf("@"));
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
console.log(`${file}: ${bom.components.length} packages`);
