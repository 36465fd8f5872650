import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isOurs, readJson } from "./pack/manifest.mjs";
import { PACKAGES, tarballOf } from "./pack/packages.mjs";
import { tryDev } from "./packages-trial/dev.mjs";
import { tryImageContext } from "./packages-trial/image-context.mjs";
import { tryImports } from "./packages-trial/imports.mjs";
import { tryInstalled } from "./packages-trial/installed.mjs";
import { tryPrograms } from "./packages-trial/programs.mjs";
import { provideRegistry, startRegistry } from "./packages-trial/registry.mjs";
import { strangerIn } from "./packages-trial/stranger.mjs";
import { tryTogether } from "./packages-trial/together.mjs";
import { complain, PlainError, say, step } from "./progress.mjs";
import { runTool } from "./setup/run-tool.mjs";

/**
 * `npm run try-packages`: what a new user does, in an empty folder outside the repository, with the tarballs of `npm run pack`
 * in a registry of its own: create, install, test, compile, import, run, kill -9. The first time it installs Verdaccio. `-- --short`: without a broker and a database.
 */

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const { version } = readJson(join(root, "package.json"));
const NAME = "my-feeds";
const isShort = process.argv.includes("--short");

/** @param {string} dir */
async function tryPackages(dir) {
  await step("Making the tarballs", async () =>
    say((await runTool(process.execPath, ["scripts/pack.mjs"], { cwd: root })).trimEnd()),
  );
  const registry = await startRegistry(await provideRegistry(root), join(dir, "registry"));
  try {
    const stranger = strangerIn(dir, registry.url);
    await step("Publishing them to a registry of this run", () => publish(stranger));
    const startedAt = performance.now();
    const project = await step(`npm create unacked@${version} ${NAME}`, () => create(stranger, join(dir, "anywhere")));
    await step("npm install", () => stranger.run(project, "npm", ["install"]));
    await step("npm test", () => stranger.run(project, "npm", ["test"]));
    await step("npx tsc --noEmit", () => stranger.run(project, "npx", ["tsc", "--noEmit"]));
    await step("The programs' help, version and complaints", () => tryPrograms(stranger, project, version));
    if (!isShort) await step("npm run dev, and a file that is saved meanwhile", () => tryDev(stranger, project));
    if (!isShort) {
      await step("RabbitMQ, PostgreSQL, a manager and two services; kill -9", () => tryTogether(stranger, project, dir));
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      say(`From npm create to an own observer that survived a kill -9: ${seconds} s`);
    }
    await step("What the image would be made of, and the manifests", () => tryImageContext(stranger, project, NAME));
    await step("import, require, types, a browser's bundle", () => tryImports(stranger, project, version));
    await step("What was installed", async () => tryInstalled(project));
  } finally {
    await registry.stop();
  }
}

/** @param {import("./packages-trial/stranger.mjs").Stranger} stranger */
async function publish({ run }) {
  // In the order of their dependencies. Provenance is for a release, which is made where it can be proved.
  for (const { name } of PACKAGES)
    await run(root, "npm", ["publish", join(root, "packages", tarballOf(name, version)), "--provenance=false"]);
}

/** @param {import("./packages-trial/stranger.mjs").Stranger} stranger @param {string} folder */
async function create({ run, refusal }, folder) {
  mkdirSync(folder);
  await run(folder, "npm", ["create", "--yes", `unacked@${version}`, NAME]);
  const again = await refusal(folder, "npm", ["create", "--yes", `unacked@${version}`, NAME]);
  if (!again.includes("has files in it already")) throw new PlainError(`It should refuse a folder with files: ${again}`);
  const { name, dependencies, devDependencies } = readJson(join(folder, NAME, "package.json"));
  const wrong = Object.entries({ ...dependencies, ...devDependencies }).filter(([of, is]) =>
    isOurs(of) ? is !== version : !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(is),
  );
  if (name !== NAME || wrong.length > 0) throw new PlainError(`Its package.json names ${name} and ${JSON.stringify(wrong)}`);
  return join(folder, NAME);
}

const dir = mkdtempSync(join(tmpdir(), "unacked-packages-"));
const startedAt = performance.now();
try {
  await tryPackages(dir);
  rmSync(dir, { recursive: true, force: true });
  say(`All of it worked, in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
} catch (error) {
  complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
  complain(`Its folder is left to look at: ${dir}`);
  process.exitCode = 1;
}
