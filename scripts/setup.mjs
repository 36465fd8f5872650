import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./processes/lock.mjs";
import { complain, PlainError, say } from "./progress.mjs";
import { provideBrowser } from "./setup/browser-program.mjs";
import { buildIfStale } from "./setup/build.mjs";
import { installPackagesIfStale } from "./setup/packages.mjs";
import { provideServerPrograms } from "./setup/server-programs.mjs";

/**
 * Everything that `npm start` and `npm test` need and a fresh clone lacks: packages, the build, the servers' programs
 * (and, `--with-browser`, the browser of the tests).
 * Runs before anything is installed, so on Node's own modules alone; does nothing that has been done already.
 */
const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

async function setUp() {
  requireNode(20, 19);
  const release = await lockForSetup();
  try {
    await installPackagesIfStale(root);
    await buildIfStale(root);
    await provideServerPrograms();
    if (process.argv.includes("--with-browser")) await provideBrowser();
  } finally {
    release();
  }
}

/**
 * @param {number} leastMajor
 * @param {number} leastMinor
 */
function requireNode(leastMajor, leastMinor) {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new PlainError(
    `Node ${leastMajor}.${leastMinor} or newer is needed, this is ${process.versions.node}. See https://nodejs.org`,
  );
}

/** Two set-ups at once in one clone would install over each other. */
async function lockForSetup() {
  const path = join(root, ".unacked", "run", "setup.lock");
  for (let told = false; ; told = true) {
    const lock = takeLock(path);
    if ("release" in lock) return lock.release;
    if (!told) say(`Waiting for the set-up that process ${lock.ownerPid} does in this folder ...`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

// A signal has to unwind the `finally` above only as far as the lock; that one names its owner and so dies with us.
try {
  await setUp();
} catch (error) {
  complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
