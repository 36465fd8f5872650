import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isOurs, readJson } from "./pack/manifest.mjs";
import { PACKAGES, tarballOf } from "./pack/packages.mjs";
import { tryDev } from "./packages-trial/dev.mjs";
import { tryImage } from "./packages-trial/image.mjs";
import { tryImageContext } from "./packages-trial/image-context.mjs";
import { tryImports } from "./packages-trial/imports.mjs";
import { tryInstalled } from "./packages-trial/installed.mjs";
import { tryPrograms } from "./packages-trial/programs.mjs";
import { provideRegistry, startRegistry } from "./packages-trial/registry.mjs";
import { startServers } from "./packages-trial/servers.mjs";
import { strangerIn } from "./packages-trial/stranger.mjs";
import { tryTogether } from "./packages-trial/together.mjs";
import { complain, PlainError, say, step } from "./progress.mjs";
import { otherNode } from "./setup/other-node.mjs";
import { runTool } from "./setup/run-tool.mjs";

const HELP = `Usage: npm run try-packages [-- --short] [--node MAJOR] [--image [--stand-in]]

What a new user does, in an empty folder outside the repository, with the tarballs of npm run pack in a registry of its own:
create, install, test, compile, import, run, kill -9. The first time it installs Verdaccio.

  --short        as npm test -- --all has it: npm run dev uses the servers of the run; without the programs' help and
                 complaints, and without imports, compiled clients and browsers' bundles
  --node MAJOR   the new user has this version of Node, from npm: 22 or 24, for example. Default: the one that runs this
  --image        and the project's image: built by Buildah, and both programs run from it. As root, on Linux
  --stand-in     its base is made of this machine's Debian mirror and Node.js, where no registry of images can be reached
`;

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const { version } = readJson(join(root, "package.json"));
const NAME = "my-feeds";

/** @typedef {{ isShort: boolean, node: string, withImage: boolean, isStandIn: boolean }} Options */

/** @param {string} dir @param {Options} options */
async function tryPackages(dir, options) {
  const making = step("Making the tarballs", async () =>
    say((await runTool(process.execPath, ["scripts/pack.mjs"], { cwd: root })).trimEnd()),
  );
  making.catch(() => undefined); // it is told where it is waited for
  const registry = await startRegistry(await provideRegistry(root), join(dir, "registry"));
  try {
    await making;
    const stranger = strangerIn(dir, registry.url, options.node);
    await step("Publishing them to a registry of this run", () => publish(stranger));
    await trySteps(stranger, dir, options);
  } finally {
    await registry.stop();
  }
}

/** @param {import("./packages-trial/stranger.mjs").Stranger} stranger @param {string} dir @param {Options} options */
async function trySteps(stranger, dir, { isShort, withImage, isStandIn }) {
  const startedAt = performance.now();
  const project = await step(`npm create unacked@${version} ${NAME}`, () => create(stranger, join(dir, "anywhere")));
  say(`  by Node ${(await stranger.run(project, "node", ["--version"])).trim()}`);
  const [servers] = await Promise.all([
    step("RabbitMQ and PostgreSQL", () => startServers(dir)),
    step("npm install", () => stranger.run(project, "npm", ["install"])),
  ]);
  try {
    await step("npm test", () => stranger.run(project, "npm", ["test"]));
    await step("npx tsc --noEmit", () => stranger.run(project, "npx", ["tsc", "--noEmit"]));
    await step("npm run dev, and a file that is saved meanwhile", () =>
      tryDev(stranger, project, isShort ? servers.addresses : undefined),
    );
    await step("A manager and two services; kill -9", () => tryTogether(stranger, project, dir, servers.addresses));
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    say(`From npm create to an own observer that survived a kill -9: ${seconds} s`);
    if (withImage) await tryImage(stranger, { project, dir, addresses: servers.addresses, isStandIn });
  } finally {
    await servers.stop();
  }
  await step("What the image would be made of, and the manifests", () => tryImageContext(stranger, project, NAME));
  if (!isShort) {
    await step("The programs' help, version and complaints", () => tryPrograms(stranger, project, version));
    await step("import, require, types, a browser's bundle", () => tryImports(stranger, project, version));
  }
  await step("What was installed", async () => tryInstalled(project));
}

/** @param {import("./packages-trial/stranger.mjs").Stranger} stranger */
async function publish({ run }) {
  const tarballs = PACKAGES.map(({ name }) => join(root, "packages", tarballOf(name, version)));
  // Provenance is for a release, which is made where it can be proved.
  await Promise.all(tarballs.map((tarball) => run(root, "npm", ["publish", tarball, "--provenance=false"])));
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

/** @returns {Promise<Options | null>} null if they ask for help */
async function readOptions() {
  const flag = /** @type {const} */ ({ type: "boolean", default: false });
  const { values } = parseArgs({
    options: { short: flag, node: { type: "string" }, image: flag, "stand-in": flag, help: flag },
  });
  if (values.help) return null;
  const node = values.node === undefined ? process.execPath : await otherNode(root, values.node);
  return { isShort: values.short, node, withImage: values.image, isStandIn: values["stand-in"] };
}

/** @param {Options} options */
async function main(options) {
  const dir = mkdtempSync(join(tmpdir(), "unacked-packages-"));
  const startedAt = performance.now();
  try {
    await tryPackages(dir, options);
  } catch (error) {
    complain(`Its folder is left to look at: ${dir}`);
    throw error;
  }
  rmSync(dir, { recursive: true, force: true });
  say(`All of it worked, in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
}

try {
  const options = await readOptions();
  if (options === null) process.stdout.write(HELP);
  else await main(options);
} catch (error) {
  const isPlain = error instanceof PlainError || /** @type {{ code?: string }} */ (error).code?.startsWith("ERR_PARSE_ARGS");
  complain(isPlain ? /** @type {Error} */ (error).message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
