import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 3_000;

/**
 * The service on the author's folder, for as long as the author works on it. It is told of saved files; one that cannot start (no
 * file of the folder loads) waits for the next; one that ends is started again.
 *
 * @param {import("../../scripts/start/program.mjs").Program} program
 * @param {{ signal: AbortSignal, say: (text: string) => void }} options
 */
export function serviceLife(program, { signal, say }) {
  let isUp = false;
  let isSaved = false;
  let isRestarting = false;
  /** Aborting it ends whatever is waited for. */
  let wake = new AbortController();

  /** @type {Promise<string>} */
  const isOver = new Promise((resolve) => signal.addEventListener("abort", () => resolve("it was told to"), { once: true }));

  async function live() {
    while (!signal.aborted) {
      isSaved = false;
      const isStarted = await started();
      if (signal.aborted) return;
      if (!isStarted) {
        say("The service starts again when a file is saved.");
        await pause();
        continue;
      }
      say("The service runs.");
      const outcome = await untilItEnds();
      if (signal.aborted || isRestarting) continue;
      say(`The service ended (${outcome}). It starts again in ${PAUSE_MS / 1_000} s, or when a file is saved.`);
      await pause(PAUSE_MS);
    }
  }

  async function started() {
    try {
      isRestarting = false;
      await Promise.race([program.start(), isOver]);
      return true;
    } catch (error) {
      if (!signal.aborted) say(/** @type {Error} */ (error).message);
      await program.stop(); // a program that was not ready in time may still live
      return false;
    }
  }

  async function untilItEnds() {
    isUp = true;
    if (isSaved) hangUp(); // a file was saved while the service started
    // When `unacked dev` ends, it stops all programs, in their order.
    const outcome = await Promise.race([program.exited, isOver]);
    isUp = false;
    return outcome;
  }

  /** @param {number} [ms] */
  async function pause(ms) {
    wake = new AbortController();
    const ended = AbortSignal.any([signal, wake.signal]);
    if (isSaved || ended.aborted) return;
    await sleep(ms ?? 2 ** 30, undefined, { signal: ended }).catch(() => undefined);
  }

  function hangUp() {
    process.kill(program.pid, "SIGHUP");
  }

  return {
    live,
    saved() {
      isSaved = true;
      if (isUp) hangUp();
      else wake.abort();
    },
    async restart() {
      wake.abort();
      if (!isUp || isRestarting) return;
      isRestarting = true;
      say("Restarting the service.");
      await program.stop();
    },
  };
}
