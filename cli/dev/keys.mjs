import { spawn } from "node:child_process";

const CTRL_C = "\u0003";

/**
 * Reads single keys, of a terminal without Enter. What is piped in counts as keys, too.
 *
 * @param {NodeJS.ReadStream} input
 * @param {Record<string, () => void>} actions by key; Ctrl-C, which a raw terminal gives as a key, is `q`
 * @returns {() => void} gives the terminal back
 */
export function readKeys(input, actions) {
  if (input.isTTY) input.setRawMode(true);
  const onData = (/** @type {Buffer} */ chunk) => {
    for (const key of chunk.toString()) (key === CTRL_C ? actions["q"] : actions[key])?.();
  };
  input.on("data", onData);
  input.on("error", () => undefined); // the terminal is gone, and its hang-up ends us
  return () => {
    input.off("data", onData);
    if (input.isTTY) input.setRawMode(false);
    input.pause();
    input.unref?.(); // piped input may never end
  };
}

/**
 * @param {string} url
 * @param {(text: string) => void} say
 */
export function openPage(url, say) {
  /** @type {Partial<Record<NodeJS.Platform, [string, ...string[]]>>} */
  const openers = { darwin: ["open"], win32: ["cmd", "/c", "start", ""] };
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const opener = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  opener.once("error", () => say(`Open it yourself: ${url}`));
  opener.once("exit", (code) => code !== 0 && say(`Open it yourself: ${url}`));
  opener.unref();
}
