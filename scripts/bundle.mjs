import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Makes one file of each program that is started often, and one of each part that it loads only where it needs it: `bundle/` beside
 * `dist/`, of the same sources and of the packages that these need. To find and load hundreds of modules takes more
 * than half of what a start costs. Of the observer service and of its slots without what the observers that
 * they load import, too. Folders as arguments: only of these.
 */
const OF_OBSERVERS = ["@unacked/sdk", "zod", "tsx", "esbuild", "@opentelemetry/api"];
const PROGRAMS = [
  { of: "services/observer-manager", entries: { main: "main" }, beside: [] },
  // resolve-sdk is found beside the module that registers it.
  {
    of: "services/observer-service",
    entries: { main: "main", "slot/resolve-sdk": "resolve-sdk" },
    beside: OF_OBSERVERS,
  },
  {
    of: "services/observer-service",
    entries: { "slot/main": "slot/main", "slot/watchdog": "slot/watchdog", "slot/resolve-sdk": "slot/resolve-sdk" },
    beside: OF_OBSERVERS,
  },
  { of: "cli", entries: { main: "main" }, beside: [] },
];

const root = fileURLToPath(new URL("..", import.meta.url));
const folders = process.argv.slice(2);
const chosen = PROGRAMS.filter(({ of }) => folders.length === 0 || folders.includes(of));
const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/**
 * What stays a package beside it: pg-native, which pg asks for and does without; OpenTelemetry and undici, loaded only where
 * they are wished for; amqplib, so that a process can be made to die between two frames of it (test/fixtures/die-at.mjs).
 */
const BESIDE = [
  "pg-native",
  "undici",
  "amqplib",
  "@opentelemetry/sdk-*",
  "@opentelemetry/exporter-*",
  "@opentelemetry/resources",
];
/** CommonJS packages in an ES module: they ask for Node's own modules by require(). */
const REQUIRE = 'import { createRequire as requireIn } from "node:module"; const require = requireIn(import.meta.url);';

for (const { of } of chosen) rmSync(join(root, of, "bundle"), { recursive: true, force: true });
for (const { of, entries, beside } of chosen) {
  await build({
    entryPoints: Object.entries(entries).map(([file, out]) => ({ in: join(root, of, `src/${file}.ts`), out })),
    outdir: join(root, of, "bundle"),
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    keepNames: true, // errors are known by theirs
    splitting: true, // what is imported where it is needed is loaded only there
    platform: "node",
    format: "esm",
    target: `node${engines.node.replace(/[^\d.]/g, "")}`,
    banner: { js: REQUIRE },
    external: [...BESIDE, ...beside],
    logLevel: "warning",
  });
}
