import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Makes one file of each program that is started often, and one of each part that it loads only where it needs it: in place of
 * its own dist/main.js, of the same sources and of the packages that these need. To find and load hundreds of modules takes more
 * than half of what a start costs. Not of the observer service: the observers that it loads share its packages.
 * Folders as arguments: only of these.
 */
const PROGRAMS = ["services/observer-manager", "cli"];

const root = fileURLToPath(new URL("..", import.meta.url));
const chosen = process.argv.length > 2 ? process.argv.slice(2) : PROGRAMS;
const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/**
 * What stays a package beside it: pg-native, which pg asks for and does without; OpenTelemetry and undici, loaded only where
 * they are wished for; amqplib, so that a process can be made to die between two frames of it (test/fixtures/die-at.mjs).
 */
const BESIDE = [
  ...["pg-native", "undici", "amqplib"],
  ...["@opentelemetry/sdk-*", "@opentelemetry/exporter-*", "@opentelemetry/resources"],
];
/** CommonJS packages in an ES module: they ask for Node's own modules by require(). */
const REQUIRE = 'import { createRequire as requireIn } from "node:module"; const require = requireIn(import.meta.url);';

for (const program of chosen) {
  rmSync(join(root, program, "dist/chunks"), { recursive: true, force: true });
  await build({
    entryPoints: [join(root, program, "src/main.ts")],
    outdir: join(root, program, "dist"),
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true, // what is imported where it is needed is loaded only there
    platform: "node",
    format: "esm",
    target: `node${engines.node.replace(/[^\d.]/g, "")}`,
    banner: { js: REQUIRE },
    external: BESIDE,
    logLevel: "warning",
  });
}
