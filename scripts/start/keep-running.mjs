import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../progress.mjs";

const RESTART_DELAY_MS = 3_000;

/**
 * Starts a part again, under its name, three seconds after it died: as Kubernetes would, so that `kill -9` is something to
 * try. Ends when `signal` says that all is to be stopped.
 *
 * @param {{ name: string, pid: number, exited: Promise<string>, start: () => Promise<void> }} part running
 * @param {AbortSignal} signal
 */
export async function keepRunning(part, signal) {
  for (;;) {
    const outcome = await part.exited;
    if (signal.aborted) return;
    say(`${part.name} ended (${outcome}). Starting it again in ${RESTART_DELAY_MS / 1000} s.`);
    await sleep(RESTART_DELAY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await part.start();
      say(`${part.name} runs again, process ${part.pid}.`);
    } catch (error) {
      if (signal.aborted) return;
      say(/** @type {Error} */ (error).message);
    }
  }
}
