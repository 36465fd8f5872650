/**
 * Writes the docs that are made from the code: docs/state-machine.md, docs/settings.md, docs/problems.md,
 * docs/rest.md, docs/metrics.md, docs/sdk.md; and from the alert rules the manifest of the Prometheus operator.
 * `--check` writes nothing and fails where a file differs, so that the docs cannot fall behind. Needs a build.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BODY_PROBLEMS, COMMON_PROBLEMS, GATE_PROBLEMS, problemTable } from "../libs/contracts/dist/index.js";
import { describeSettings } from "../libs/settings/dist/index.js";
import { apiRoutes } from "../services/observer-manager/dist/adapters/http/api/api-routes.js";
import { openApiDocument } from "../services/observer-manager/dist/adapters/http/openapi/document.js";
import { ManagerSettings } from "../services/observer-manager/dist/settings.js";
import { ServiceSettings } from "../services/observer-service/dist/settings/settings.js";
import { metricsPage } from "./docs/metrics-page.mjs";
import { prometheusRule } from "./docs/prometheus-rule.mjs";
import { restPage } from "./docs/rest-page.mjs";
import { sdkPage } from "./docs/sdk-page.mjs";
import { stateMachinePage } from "./docs/state-machine-page.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const NOTE = "<!-- Made from the code by `npm run docs`; do not edit. -->\n";

const isCheck = process.argv.includes("--check");
const FILES = {
  "docs/state-machine.md": `${NOTE}${stateMachinePage()}`,
  "docs/settings.md": settings(),
  "docs/problems.md": problems(),
  "docs/rest.md": `${NOTE}${rest()}`,
  "docs/metrics.md": `${NOTE}${metricsPage()}`,
  "docs/sdk.md": await sdkPage(root, NOTE, isCheck),
  "k8s/components/monitoring/prometheus-rule.yaml": prometheusRule(join(root, "deploy/monitoring/alerts.yml")),
};

const stale = Object.entries(FILES).filter(
  ([file, text]) => !existsSync(join(root, file)) || readFileSync(join(root, file), "utf8") !== text,
);
if (!isCheck) for (const [file, text] of stale) writeFileSync(join(root, file), text);
if (stale.length > 0)
  console.log(
    `docs: ${isCheck ? "out of date (npm run docs mends it)" : "written"}: ${stale.map(([file]) => file).join(", ")}`,
  );
else console.log(`docs: ${Object.keys(FILES).length} generated files are up to date`);
process.exitCode = isCheck && stale.length > 0 ? 1 : 0;

function settings() {
  return `${NOTE}# Settings

Each can be given in the environment, or in a YAML or JSON file of \`NAME: value\` lines that \`CONFIG_FILE\` names; the
environment wins. Each wrong value, and each unknown name in the file, is named at start and ends the program with code 2; what
settings say against each other is named once each is right by itself.
OpenTelemetry's own variables (\`OTEL_…\`) are read by its SDK, from the environment alone: [tracing.md](tracing.md).

## observer-manager

${settingsTable(ManagerSettings)}

## observer-service

${settingsTable(ServiceSettings)}
`;
}

/** @param {import("zod").ZodObject} schema */
function settingsTable(schema) {
  const rows = describeSettings(schema).map(({ name, description, defaultValue, required, secret }) => {
    const fallback = required ? "required" : defaultValue === undefined ? "not set" : `\`${defaultValue}\``;
    return `| \`${name.replaceAll(" or ", "` or `")}\` | ${fallback} | ${description.replaceAll("|", "\\|")}${secret ? " Secret: never logged." : ""} |`;
  });
  return ["| setting | default | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function rest() {
  const document = openApiDocument(apiRoutes(/** @type {never} */ ({})), "0.0.0");
  const ofAnyCall = [...COMMON_PROBLEMS, ...BODY_PROBLEMS, ...GATE_PROBLEMS, "cross-origin"];
  return restPage(/** @type {never} */ (document), ofAnyCall);
}

function problems() {
  return `${NOTE}# Problems that REST answers with

\`application/problem+json\` (RFC 9457). The \`code\` is stable; texts may change.

${problemTable()}
`;
}
