import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../processes/lock.mjs";
import { complain, PlainError, say } from "../progress.mjs";
import { engineOf, provideEngine, whatIsMissing } from "./engine.mjs";
import { runInOwnNamespaces, settleIn, sweep } from "./own-namespaces.mjs";

/** Is there once the images were made: beside them, so that both go together. */
const MADE = ".unacked/engine/storage/made-by-unacked";

/**
 * Runs what needs an engine, in three parts: programs are installed; images are made, in a namespace of its own; they are run, in a
 * namespace without a network to outside. The script calls itself for each of the latter two.
 *
 * @param {{ root: string, script: string,
 *           provide: (engine: import("./engine.mjs").Engine) => Promise<void>,
 *           makeImages: (engine: import("./engine.mjs").Engine) => Promise<void>,
 *           run: (engine: import("./engine.mjs").Engine) => Promise<void> }} trial
 * @returns {Promise<number>} the exit code
 */
export async function runTrial({ root, script, provide, makeImages, run }) {
  const [stage] = process.argv.slice(2);
  try {
    if (stage === "make-images") return await inside(root, { isCutOff: false }, makeImages);
    if (stage === "run") return await inside(root, { isCutOff: true }, run);
    return await fromOutside({ root, script, provide });
  } catch (error) {
    complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
    return 1;
  }
}

/** @param {{ root: string, script: string, provide: (engine: import("./engine.mjs").Engine) => Promise<void> }} trial */
async function fromOutside({ root, script, provide }) {
  const startedAt = performance.now();
  const reason = await provideEngine();
  if (reason !== null) throw new PlainError(`No container engine can be had here: ${reason}.`);
  const lock = takeLock(`${root}/.unacked/run/engine.lock`);
  if ("ownerPid" in lock) throw new PlainError(`Process ${lock.ownerPid} uses the engine of this folder.`);
  try {
    await provide(engineOf(root));
    for (const [stage, isCutOff] of /** @type {const} */ ([
      ["make-images", false],
      ["run", true],
    ])) {
      const args = [stage, ...process.argv.slice(2)];
      const exitCode = await runInOwnNamespaces({ root, script, args, isCutOff });
      if (exitCode !== 0) return exitCode;
      writeFileSync(join(root, MADE), "");
    }
    say(`All of it worked, in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
    return 0;
  } finally {
    lock.release();
  }
}

/**
 * @param {string} root
 * @param {{ isCutOff: boolean }} options
 * @param {(engine: import("./engine.mjs").Engine) => Promise<void>} work
 */
async function inside(root, options, work) {
  const engine = engineOf(root);
  await settleIn(engine, options);
  await work(engine);
  await sweep(engine);
  return 0;
}

/**
 * Why `npm test -- --all` leaves the trials out, "" where it does not. To make the images the first time takes longer than
 * all other tests may wait, so they are run where somebody has made them.
 *
 * @param {string} root
 */
export function whyNoTrials(root) {
  if (process.getuid?.() !== 0) return "they need root";
  if (!existsSync(join(root, MADE)))
    return "their images are not made yet: npm run try-compose does it, ten minutes the first time";
  const missing = whatIsMissing();
  if (missing !== null) return `${missing} is not installed`;
  const mayUnshare = spawnSync("unshare", ["--mount", "--pid", "--fork", "true"], { stdio: "ignore" }).status === 0;
  return mayUnshare ? "" : "this machine allows no namespaces of one's own";
}
