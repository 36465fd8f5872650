import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { complain, PlainError, step } from "../progress.mjs";
import { runTool } from "./run-tool.mjs";

const OBSERVERS = "observers";
// Never sources: what is installed, what is made, what is run.
const PASSED_OVER = new Set(["node_modules", "dist", "bundle", ".git", ".unacked", "docs", "test", "scripts", "bench"]);
/** What `unacked dev` has in common with `npm start`. */
const WITH_THE_COMMAND_LINE = ["scripts/processes", "scripts/servers", "scripts/start"];

/**
 * Builds when a source is not the one that was built last: the programs, and the observers of this folder by themselves, as whoever
 * changes one of these need not wait for all the rest.
 *
 * @param {string} root
 */
export async function buildIfStale(root) {
  const built = new Stamp(root, "programs", programSources(root));
  const compiled = new Stamp(root, OBSERVERS, existsSync(join(root, OBSERVERS)) ? sourceFiles(join(root, OBSERVERS)) : []);
  const isBuilt = built.isCurrent() && outputsExist(root);
  if (isBuilt && compiled.isCurrent()) return;
  await step("Building", async () => {
    if (!isBuilt) {
      const advice = "The lines above tell what does not compile.";
      const { NODE_ENV: _, ...env } = process.env; // that of the tests is not meant for the page
      await runTool("npm", ["run", "--silent", "build:programs"], { cwd: root, env, advice });
    }
    await compileObservers(root);
    built.write();
    compiled.write();
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

/** Which sources were built last: by names, sizes and times, not contents, as a hundred are looked at in a few milliseconds. */
class Stamp {
  #path;
  #digest;

  /**
   * @param {string} root
   * @param {string} what
   * @param {string[]} sources as they are now, before the build: one that is saved meanwhile is built next time
   */
  constructor(root, what, sources) {
    this.#path = join(root, "node_modules", `.unacked-build-${what}`);
    const digest = createHash("sha256");
    for (const path of sources) {
      const { size, mtimeMs } = statSync(path);
      digest.update(`${path} ${size} ${mtimeMs}\n`);
    }
    this.#digest = digest.digest("hex");
  }

  isCurrent() {
    return existsSync(this.#path) && readFileSync(this.#path, "utf8") === this.#digest;
  }

  write() {
    writeFileSync(this.#path, this.#digest);
  }
}

/** @param {string} root */
const programSources = (root) => [
  ...sourceFiles(root).filter((path) => !path.startsWith(join(root, OBSERVERS, "/"))),
  ...WITH_THE_COMMAND_LINE.flatMap((folder) => sourceFiles(join(root, folder))),
  ...["bundle.mjs", "bundles/program-bundles.mjs", "bundles/put-in-place.mjs"].map((file) => join(root, "scripts", file)),
];

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
