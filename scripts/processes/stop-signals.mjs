import { killHeld } from "./leash.mjs";

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
/** npm passes Ctrl-C on although the terminal has sent it to us already: two so close together are one. */
const SAME_SIGNAL_MS = 1_000;

/**
 * The first signal has everything stop in order; one that comes later kills what is left.
 *
 * @param {AbortController} stopping aborted by the first
 * @param {{ onFirst: () => void, onAgain?: () => void }} hooks each called once, before it is done
 * @returns {{ stop: () => void, unlisten: () => void }} `stop` does what a signal does
 */
export function stopOnSignals(stopping, { onFirst, onAgain }) {
  let firstAtMs = 0;
  let hurries = false;
  const stop = () => {
    if (!stopping.signal.aborted) {
      firstAtMs = performance.now();
      onFirst();
      stopping.abort();
    } else if (performance.now() - firstAtMs > SAME_SIGNAL_MS) {
      if (!hurries) onAgain?.();
      hurries = true;
      killHeld();
    }
  };
  for (const name of SIGNALS) process.on(name, stop);
  const unlisten = () => {
    for (const name of SIGNALS) process.off(name, stop);
  };
  return { stop, unlisten };
}
