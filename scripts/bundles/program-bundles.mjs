import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

/**
 * How a program becomes one file, and one of each part that it loads only where it needs it. `beside`: packages that stay
 * such, for the observers that it loads may import them, too, or they cannot be part of a file.
 *
 * @typedef {{ of: string, entries: Record<string, string>, beside: string[] }} ProgramBundle
 */
const OF_OBSERVERS = ["tsx", "esbuild", "@opentelemetry/api"];

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
 * What an older Node says by itself is "crypto is not defined", from deep within. It is asked where the first file begins.
 *
 * @param {string} least as `20.19`
 */
function requireNode(least) {
  const [major, minor = "0"] = least.split(".");
  const text = JSON.stringify(`Node ${least} or newer is needed, this is `);
  return `{ const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < ${major} || (major === ${major} && minor < ${minor})) {
    process.stderr.write(${text} + process.versions.node + ". See https://nodejs.org\\n");
    process.exit(2);
  } }`;
}

/**
 * @param {string} root of the repository
 * @param {ProgramBundle} program
 * @param {{ outdir: string, external: string[] }} options `external`: packages that stay beside it, besides the program's own
 */
export async function bundleProgram(root, { of, entries, beside }, { outdir, external }) {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const leastNode = engines.node.replace(/[^\d.]/g, "");
  const result = await build({
    absWorkingDir: root,
    entryPoints: [
      ...Object.entries(entries).map(([file, out]) => ({ in: join(root, of, `src/${file}.ts`), out })),
      ...offeredBy(root, entries["slot/resolve-sdk"]),
    ],
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    keepNames: true, // errors are known by theirs
    splitting: true, // what is imported where it is needed is loaded only there
    platform: "node",
    format: "esm",
    target: `node${leastNode}`,
    banner: { js: `${REQUIRE}\n${requireNode(leastNode)}` },
    external: [...external, ...beside],
    metafile: true,
    logLevel: "warning",
  });
  nameClassesAlone(Object.keys(result.metafile.outputs).map((file) => join(root, file)));
  return result;
}

/**
 * A file for each way to import what the service offers observers: the SDK and zod, which alone is a hundred files. A slot would ask
 * for them one by one, each through the thread of the module loader's hooks.
 *
 * @param {string} root
 * @param {string} [hook] the one that looks for them in `offered/` beside itself (src/slot/resolve-sdk.ts)
 */
function offeredBy(root, hook) {
  if (hook === undefined) return [];
  const zod = join(root, "node_modules/zod");
  const { exports } = JSON.parse(readFileSync(join(zod, "package.json"), "utf8"));
  const ofZod = Object.entries(exports).filter(([path, { import: file }]) => file !== undefined && !path.includes("*"));
  const files = [
    { in: join(root, "libs/sdk/dist/index.js"), out: "@unacked/sdk" },
    ...ofZod.map(([path, { import: file }]) => ({ in: join(zod, file), out: join("zod", path) })),
  ];
  return files.map(({ in: file, out }) => ({ in: file, out: join(dirname(hook), "offered", out) }));
}

const ESBUILDS_HELPER = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });';
const OUR_HELPER = `var __isClass = (target) => Object.getOwnPropertyDescriptor(target, "prototype")?.writable === false;
var __name = (target, value) => target.name !== value && __isClass(target) ? __defProp(target, "name", { value, configurable: true }) : target;`;

/**
 * esbuild's helper gives each function its name again whenever it is made, closures too: a tenth of what a POST costs the manager
 * (docs/performance-budget.md). Nobody asks a function for its name; errors are asked for those of their classes.
 *
 * @param {string[]} files of one build
 */
function nameClassesAlone(files) {
  let found = 0;
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    if (!text.includes(ESBUILDS_HELPER)) continue;
    writeFileSync(file, text.replace(ESBUILDS_HELPER, OUR_HELPER));
    found += 1;
  }
  if (found === 0) throw new Error("esbuild names classes by another helper than this script knows (nameClassesAlone)");
}
