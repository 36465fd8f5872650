/**
 * Holds the one-way arrows between the parts: domain ← operations ← adapters ← main; of a service, wire ← slot and wire ← keeper,
 * which do not know each other, ← service ← main. And each outside package only where it belongs. Reads the imports as text;
 * fails when it finds a forbidden one, a circle, or a place without a file.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

const SERVICE = "services/observer-service/src/";
const MANAGER = "services/observer-manager/src/";

/** The first that fits counts. Files below `in` may import only what matches one of `may` (a package's name, or a path from the root). */
const PLACES = [
  { in: "libs/contracts/src/", may: ["zod", "uuid", "libs/contracts/src/"] },
  // For Node and for browsers: nothing of either.
  { in: "libs/client/src/", may: ["@unacked/contracts", "eventsource-parser", "zod", "libs/client/src/"] },
  { in: "libs/settings/src/", may: ["zod", "yaml", "node:", "libs/settings/src/"] },
  { in: "libs/metrics/src/", may: ["prom-client", "libs/metrics/src/"] },
  { in: "libs/tracing/src/", may: ["@opentelemetry/", "node:", "libs/tracing/src/"] },
  { in: "libs/sdk/src/", may: ["zod", "node:", "libs/sdk/src/"] },
  { in: "libs/broker/src/", may: ["amqplib", "node:", "libs/broker/src/"] },
  {
    in: `${MANAGER}domain/schedules/cron.ts`,
    may: ["croner"],
  },
  // What it is given may be another's, and never end.
  { in: `${MANAGER}domain/types/in-time.ts`, may: ["node:vm"] },
  {
    in: `${MANAGER}domain/`,
    may: ["@unacked/contracts", "node:util", "ajv", "zod", `${MANAGER}domain/`],
  },
  {
    in: `${MANAGER}operations/`,
    may: ["@unacked/contracts", "node:util", "node:timers", `${MANAGER}domain/`, `${MANAGER}operations/`],
  },
  // What connects, what a statement is made with and what the tables need now and then know no table; a migration knows nothing but SQL.
  {
    in: `${MANAGER}adapters/postgres/connection/data-source.ts`,
    may: ["typeorm", "node:", `${MANAGER}operations/log.ts`, `${MANAGER}adapters/postgres/`],
  },
  ...["connection/", "statements/", "upkeep/"].map((folder) => ({
    in: `${MANAGER}adapters/postgres/${folder}`,
    may: [
      "@unacked/contracts",
      "@unacked/settings",
      "node:",
      "pg",
      "typeorm",
      `${MANAGER}operations/`,
      ...within(`${MANAGER}adapters/postgres/`, "connection/", "statements/", "upkeep/"),
    ],
  })),
  { in: `${MANAGER}adapters/postgres/migrations/migrations.ts`, may: [`${MANAGER}adapters/postgres/migrations/`] },
  { in: `${MANAGER}adapters/postgres/migrations/`, may: ["typeorm"] },
  // What is described, then what answers, then what listens.
  {
    in: `${MANAGER}adapters/http/openapi/`,
    may: [
      "@unacked/contracts",
      "zod",
      "@asteasolutions/zod-to-openapi",
      ...within(`${MANAGER}operations/`, "refusal.ts", "problem-details.ts"),
      `${MANAGER}adapters/http/openapi/`,
    ],
  },
  {
    in: `${MANAGER}adapters/http/api/`,
    may: [
      "@unacked/contracts",
      "zod",
      "express",
      "cookie",
      `${MANAGER}domain/`,
      `${MANAGER}operations/`,
      `${MANAGER}adapters/http/openapi/`,
      `${MANAGER}adapters/http/api/`,
    ],
  },
  {
    in: `${MANAGER}adapters/`,
    may: ["@unacked/", "node:", "zod", `${MANAGER}domain/`, `${MANAGER}operations/`],
    own: true,
  },
  // What decides has neither clock nor broker in it.
  ...["keeper/intake/start-decision.ts", "keeper/lease/lease.ts", "keeper/outbox/outbox.ts", "keeper/runs/run-machine.ts"]
    .concat(["keeper/outbox/batch-bounds.ts", "keeper/slots/blame/suspicion.ts", "wire/stop-cause.ts"])
    .map((file) => ({
      in: SERVICE + file,
      may: ["@unacked/contracts", "@unacked/sdk", ...within(SERVICE, "keeper/outbox/batch-bounds.ts", "wire/stop-cause.ts")],
    })),
  { in: `${SERVICE}wire/`, may: ["@unacked/", "node:", ...within(SERVICE, "wire/", "log.ts")] },
  // A slot has no broker: it knows its own folder, and what it has agreed upon with its keeper.
  {
    in: `${SERVICE}slot/`,
    may: [
      "@unacked/contracts",
      "@unacked/sdk",
      "@unacked/tracing",
      "node:",
      "tsx",
      "esbuild",
      ...within(
        SERVICE,
        "slot/",
        "wire/",
        "bounded-line.ts",
        "error-text.ts",
        "isolation.ts",
        "log.ts",
        "service-tracing.ts",
        "within.ts",
      ),
    ],
  },
  // The keeper never runs an author's code: neither what loads it nor what enters it. Its processes, and whom it blames, know of no slot.
  ...Object.entries({
    "keeper/lease/": [],
    "keeper/outbox/": [],
    "keeper/runs/": ["keeper/outbox/"],
    "keeper/slots/process/": [],
    "keeper/slots/blame/": [],
    "keeper/slots/": ["keeper/runs/", "machine/", "settings/"],
    "keeper/intake/": ["keeper/lease/", "keeper/outbox/", "keeper/runs/"],
    "keeper/tasks/": ["keeper/outbox/", "keeper/runs/"],
    "keeper/control/": ["keeper/outbox/", "keeper/runs/", "keeper/intake/"],
  }).map(([folder, beside]) => ({
    in: SERVICE + folder,
    may: [
      "@unacked/broker",
      "@unacked/contracts",
      "@unacked/sdk",
      "@unacked/tracing",
      "node:",
      "zod",
      ...within(
        SERVICE,
        folder,
        "keeper/consumed-queue.ts",
        "keeper/identity.ts",
        "keeper/lately.ts",
        "wire/",
        "bounded-line.ts",
        "error-text.ts",
        "isolation.ts",
        "log.ts",
        "within.ts",
      ),
      ...within(SERVICE, ...beside),
    ],
  })),
  { in: `${SERVICE}machine/`, may: ["node:", `${SERVICE}machine/`] },
  // What can be set goes by the machine, and knows none of the parts that it is for.
  { in: `${SERVICE}settings/`, may: ["@unacked/", "node:path", "zod", ...within(SERVICE, "machine/", "settings/")] },
  {
    in: `${SERVICE}service/`,
    may: [
      "@unacked/",
      "node:",
      ...within(SERVICE, "service/", "keeper/", "machine/", "error-text.ts", "log.ts", "within.ts"),
    ],
  },
  { in: SERVICE, may: ["@unacked/", "node:", "zod", "pino", "pino-pretty", SERVICE] },
  { in: "services/status-page/src/store/", may: ["@unacked/contracts", "services/status-page/src/store/"] },
  { in: "services/status-page/src/form/", may: ["services/status-page/src/form/"] },
  {
    in: "services/status-page/src/wire/",
    may: ["@unacked/client", "@unacked/contracts", "services/status-page/src/store/", "services/status-page/src/wire/"],
  },
  {
    in: "services/status-page/src/",
    may: [
      "@unacked/contracts",
      "react",
      "react-dom",
      "@mantine/core",
      "@mantine/hooks",
      "@dagrejs/dagre",
      "@tanstack/react-virtual",
      "uplot",
      "swagger-ui-dist",
      "services/status-page/src/",
    ],
  },
  { in: "observers/", may: ["@unacked/sdk", "zod", "ws", "undici", "node:", "observers/"] },
  { in: "demo/src/tasks/", may: ["@unacked/sdk", "zod"] },
  { in: "demo/src/", may: ["ws", "node:", "demo/src/"] },
  { in: "cli/src/input/", may: ["@unacked/contracts", "yaml", "zod", "node:", "cli/src/input/", "cli/src/failure.ts"] },
  { in: "cli/src/output/", may: ["@unacked/contracts", "yaml", "cli/src/output/"] },
  {
    in: "cli/src/client/",
    may: ["@unacked/client", "@unacked/contracts", "undici", "node:", "cli/src/client/", "cli/src/failure.ts"],
  },
  // What it has in common with `npm start`; bundled with it.
  {
    in: "cli/dev/",
    may: [
      "node:",
      "cli/dev/",
      ...["scripts/progress.mjs", "scripts/processes/", "scripts/servers/", "scripts/start/"],
      // What a service takes for the code of a file.
      `${SERVICE}slot/code-print.ts`,
    ],
  },
  { in: "cli/", may: ["@unacked/contracts", "commander", "yaml", "zod", "undici", "node:", "cli/"] },
];

/** Packages that only one place may know. */
const ONLY_IN = [
  { packages: ["amqplib"], places: ["libs/broker/src/"] },
  { packages: ["eventsource-parser"], places: ["libs/client/src/"] },
  { packages: ["prom-client"], places: ["libs/metrics/src/"] },
  { packages: ["@opentelemetry"], places: ["libs/tracing/src/"] },
  { packages: ["jose"], places: ["services/observer-manager/src/adapters/access/"] },
  { packages: ["typeorm", "pg"], places: ["services/observer-manager/src/adapters/postgres/"] },
  {
    packages: ["express", "helmet", "cors", "cookie", "express-rate-limit", "@asteasolutions/zod-to-openapi"],
    places: ["services/observer-manager/src/adapters/http/"],
  },
];

const files = ["libs", "services", "observers", "demo", "cli"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => `${folder}/${file}`.replaceAll("\\", "/")),
  )
  .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file));

const IMPORT = /^\s*(?:import|export)\s(?:[^"';]*?\sfrom\s)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gm;

const problems = [];
/** @type {Map<string, string[]>} */
const graph = new Map();
const emptyPlaces = new Set(PLACES);

for (const file of files) {
  const text = readFileSync(join(root, file), "utf8");
  const targets = [...text.matchAll(IMPORT)].map((match) => resolveImport(file, match[1] ?? match[2] ?? ""));
  graph.set(file, targets);
  const place = PLACES.find((one) => file.startsWith(one.in));
  if (place) emptyPlaces.delete(place);
  for (const target of targets) {
    if (place && !isAllowed(place, file, target)) problems.push(`${file} must not import ${target}`);
    for (const rule of ONLY_IN) {
      const isForeign = rule.packages.some((name) => target === name || target.startsWith(`${name}/`));
      if (isForeign && !rule.places.some((one) => file.startsWith(one)))
        problems.push(`${file}: only ${rule.places} may import ${target}`);
    }
  }
}

for (const circle of circles()) problems.push(`circle: ${circle.join(" → ")}`);
for (const { in: place } of emptyPlaces) problems.push(`${place}: no file is held to this place's rule`);
for (const problem of problems) console.error(problem);
console.log(`arrows: ${files.length} files, ${[...graph.values()].flat().length} imports, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** @param {string} root @param {string[]} paths */
function within(root, ...paths) {
  return paths.map((path) => root + path);
}

/** @param {string} file @param {string} spec */
function resolveImport(file, spec) {
  return spec.startsWith(".") ? normalize(join(dirname(file), spec)).replaceAll("\\", "/") : spec;
}

/** @param {(typeof PLACES)[number]} place @param {string} file @param {string} target */
function isAllowed(place, file, target) {
  if (
    place.may.some(
      (allowed) =>
        target === allowed || target.startsWith(allowed.endsWith("/") || allowed.endsWith(":") ? allowed : `${allowed}/`),
    )
  )
    return true;
  if (!place.own) return false;
  // An adapter knows its own folder and its own outside packages (see ONLY_IN), not its neighbours.
  const own = file.slice(0, file.indexOf("/", place.in.length) + 1);
  return target.startsWith(own) || !target.startsWith("services/");
}

function circles() {
  /** @type {string[][]} */
  const found = [];
  const done = new Set();
  /** @param {string} file @param {string[]} path */
  const visit = (file, path) => {
    if (path.includes(file)) return void found.push([...path.slice(path.indexOf(file)), file]);
    if (done.has(file)) return;
    for (const target of graph.get(file) ?? []) if (graph.has(target)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(relative(root, join(root, file)).replaceAll("\\", "/"), []);
  return found;
}
