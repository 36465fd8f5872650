import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * How a program becomes one file, and one of each part that it loads only where it needs it. Of the observer service and of
 * its slots without what the observers that they load import, too.
 *
 * @typedef {{ of: string, entries: Record<string, string>, beside: string[] }} ProgramBundle
 */
const OF_OBSERVERS = ["@unacked/sdk", "zod", "tsx", "esbuild", "@opentelemetry/api"];

/** @type {ProgramBundle[]} */
export const PROGRAMS = [
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

/** CommonJS packages in an ES module: they ask for Node's own modules by require(). */
const REQUIRE = 'import { createRequire as requireIn } from "node:module"; const require = requireIn(import.meta.url);';

/**
 * @param {string} root of the repository
 * @param {ProgramBundle} program
 * @param {{ outdir: string, external: string[] }} options `external`: packages that stay beside it, besides the program's own
 */
export function bundleProgram(root, { of, entries, beside }, { outdir, external }) {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return build({
    absWorkingDir: root,
    entryPoints: Object.entries(entries).map(([file, out]) => ({ in: join(root, of, `src/${file}.ts`), out })),
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true, // what is imported where it is needed is loaded only there
    platform: "node",
    format: "esm",
    target: `node${engines.node.replace(/[^\d.]/g, "")}`,
    banner: { js: REQUIRE },
    external: [...external, ...beside],
    metafile: true,
    logLevel: "warning",
  });
}
