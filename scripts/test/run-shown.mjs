import { spawn } from "node:child_process";
import { constants } from "node:os";
import { holdOnLeash } from "../processes/leash.mjs";
import { complain } from "../progress.mjs";

/**
 * Runs a program to its end, its output shown as it comes.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {string} cwd
 * @param {NodeJS.Signals} [endBy] what ends it if we are told to end: one that waits for a child of its own may not hear SIGTERM
 * @returns {Promise<number>} its exit code, or 1 if it has none; 128 and the signal's number if we were told to end meanwhile
 */
export function runShown(program, args, cwd, endBy = "SIGTERM") {
  const child = spawn(program, args, { cwd, stdio: "inherit" });
  holdOnLeash(child); // should we be killed with -9, it goes too, and with it the servers that it started
  // Ctrl-C reaches it by itself, and we stay to count; SIGTERM comes to us alone.
  let toldToEnd = 0;
  const stay = () => (toldToEnd = 128 + constants.signals.SIGINT);
  const passOn = () => {
    toldToEnd = 128 + constants.signals.SIGTERM;
    child.kill(endBy);
  };
  process.on("SIGINT", stay);
  process.on("SIGTERM", passOn);
  return new Promise((resolve) => {
    child.once("error", (error) => {
      complain(String(error));
      resolve(1);
    });
    child.once("exit", (code) => resolve(toldToEnd || (code ?? 1)));
  }).finally(() => process.off("SIGINT", stay).off("SIGTERM", passOn));
}
