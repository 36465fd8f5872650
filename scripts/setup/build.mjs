import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { complain, PlainError, step } from "../progress.mjs";
import { runTool } from "./run-tool.mjs";

// Never sources: what is installed, what is made, what is run.
const PASSED_OVER = new Set(["node_modules", "dist", "bundle", ".git", ".unacked", "docs", "test", "scripts", "bench"]);
/** What `unacked dev` has in common with `npm start`. */
const WITH_THE_COMMAND_LINE = ["scripts/processes", "scripts/servers", "scripts/start"];

/**
 * Builds when a source is not the one that was built last.
 *
 * @param {string} root
 */
export async function buildIfStale(root) {
  const stamp = join(root, "node_modules", ".unacked-build");
  const digest = sourcesDigest(root);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest && outputsExist(root)) return;
  await step("Building", async () => {
    const advice = "The lines above tell what does not compile.";
    const { NODE_ENV: _, ...env } = process.env; // that of the tests is not meant for the page
    await runTool("npm", ["run", "--silent", "build:programs"], { cwd: root, env, advice });
    await compileObservers(root);
    // Of before the build: a source saved meanwhile is built next time.
    writeFileSync(stamp, digest);
  });
}

/**
 * They are for their author to change: services load them without a build, and leave out what does not load. So what does not compile
 * there is told, and stops nothing; `npm run check` is strict.
 *
 * @param {string} root
 */
export async function compileObservers(root) {
  try {
    await runTool("npx", ["tsc", "-b", "observers"], {
      cwd: root,
      advice: "What can be loaded of observers/ runs all the same.",
    });
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    complain(error.message);
  }
}

/**
 * Names, sizes and times, not contents: a hundred files are looked at in a few milliseconds.
 *
 * @param {string} root
 */
function sourcesDigest(root) {
  const digest = createHash("sha256");
  for (const path of [
    ...sourceFiles(root),
    ...WITH_THE_COMMAND_LINE.flatMap((folder) => sourceFiles(join(root, folder))),
    ...["bundle.mjs", "bundles/program-bundles.mjs", "bundles/put-in-place.mjs"].map((file) => join(root, "scripts", file)),
  ]) {
    const { size, mtimeMs } = statSync(path);
    digest.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return digest.digest("hex");
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (PASSED_OVER.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return /\.(ts|tsx|m?js|css|html|svg)$|^(package|tsconfig.*)\.json$/.test(entry.name) ? [path] : [];
  });
}

/**
 * Whether every part of the build has its output still: somebody may have removed some.
 *
 * @param {string} root
 */
function outputsExist(root) {
  const { references } = JSON.parse(readFileSync(join(root, "tsconfig.programs.json"), "utf8"));
  return references.every((/** @type {{ path: string }} */ { path }) => {
    const { compilerOptions } = JSON.parse(readFileSync(join(root, path, "tsconfig.json"), "utf8"));
    const isProgram = existsSync(join(root, path, "src/main.ts"));
    return (
      existsSync(join(root, path, compilerOptions?.outDir ?? "dist")) &&
      (!isProgram || existsSync(join(root, path, "bundle")))
    );
  });
}
