/**
 * Holds the OpenAPI document against the rules of redocly.yaml. The document is made as the manager makes it, from what is
 * built. Nothing leaves the machine: no telemetry, no look for a newer version.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { apiRoutes } from "../services/observer-manager/dist/adapters/http/api/api-routes.js";
import { openApiDocument } from "../services/observer-manager/dist/adapters/http/openapi/document.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folder = mkdtempSync(join(tmpdir(), "unacked-openapi-"));
const file = join(folder, "openapi.json");

try {
  // Routes are described before anything is asked of them.
  const document = openApiDocument(apiRoutes(/** @type {never} */ ({})), "0.0.0");
  writeFileSync(file, JSON.stringify(document, null, 2));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "node_modules/@redocly/cli/bin/cli.js"), "lint", file, "--config", join(root, "redocly.yaml")],
    { encoding: "utf8", env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } },
  );
  if (status === 0) console.log("openapi: the document keeps the rules of redocly.yaml");
  else console.error(`${stdout}${stderr}`);
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
