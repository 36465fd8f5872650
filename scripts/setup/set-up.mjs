import { join } from "node:path";
import { takeLock } from "../processes/lock.mjs";
import { PlainError, say } from "../progress.mjs";
import { provideBrowser } from "./browser-program.mjs";
import { buildIfStale } from "./build.mjs";
import { installPackagesIfStale } from "./packages.mjs";
import { providePostgres, provideRabbitmq } from "./server-programs.mjs";

/**
 * Everything that `npm start` and `npm test` need and a fresh clone lacks: packages, the build, the servers' programs and,
 * for tests, the browser. Runs before anything is installed, so on Node's own modules alone; does nothing that has been done
 * already. A signal may end it anywhere: its lock names its owner and so dies with it.
 *
 * @param {string} root
 * @param {{ withBrowser?: boolean }} [options]
 */
export async function setUp(root, { withBrowser = false } = {}) {
  requireNode(20, 19);
  const release = await lockForSetup(root);
  try {
    await provideRabbitmq(); // first, as nobody but root can be helped: they need not wait a minute to hear it
    await installPackagesIfStale(root);
    await buildIfStale(root);
    providePostgres();
    if (withBrowser) await provideBrowser();
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

/**
 * Two set-ups at once in one clone would install over each other.
 *
 * @param {string} root
 */
async function lockForSetup(root) {
  const path = join(root, ".unacked", "run", "setup.lock");
  for (let told = false; ; told = true) {
    const lock = takeLock(path);
    if ("release" in lock) return lock.release;
    if (!told) say(`Waiting for the set-up that process ${lock.ownerPid} does in this folder ...`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
